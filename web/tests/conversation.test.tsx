import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Conversation } from "@/ui/Conversation";

test("a conversation shows texts, tool calls, results, reasoning and media", () => {
  render(
    <Conversation
      messages={[
        {
          role: "user",
          parts: [
            { type: "text", text: "What is this?" },
            { type: "media", mediaType: "image/png", url: null, size: 1234 },
          ],
        },
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "I should look." },
            { type: "toolCall", id: "c1", name: "look", arguments: { at: "door" } },
          ],
        },
        { role: "tool", parts: [{ type: "toolResult", id: "c1", name: "look", result: "a cat" }] },
        { role: "assistant", parts: [{ type: "data", value: { odd: "part" } }] },
      ]}
    />,
  );
  for (const text of ["What is this?", "image/png", "I should look.", "a cat"]) {
    expect(screen.getByText(text)).toBeTruthy();
  }
  expect(screen.getAllByText("look")).toHaveLength(2);
  expect(screen.getByText("called with")).toBeTruthy();
  expect(screen.getByText("returned")).toBeTruthy();
});
