import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Conversation } from "@/ui/Conversation";
import { JsonView } from "@/ui/JsonView";
import { Markdown } from "@/ui/Markdown";

afterEach(cleanup);

const CORPUS = [
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)">',
  "<svg onload=alert(1)>",
  '"><iframe src="javascript:alert(1)">',
  "[click](javascript:alert(1))",
  "javascript:alert(1)",
  "**<b onclick=alert(1)>bold</b>**",
  "```\n<script>alert(1)</script>\n```",
];

test.each(CORPUS)("span content is text, never HTML: %s", (text) => {
  const { container } = render(
    <>
      <Markdown text={text} />
      <JsonView value={{ [text]: text }} />
      <Conversation
        messages={[
          { role: text, parts: [{ type: "text", text }] },
          {
            role: "assistant",
            parts: [{ type: "toolCall", id: text, name: text, arguments: { text } }],
          },
        ]}
      />
    </>,
  );
  expect(
    container.querySelectorAll("script, img, iframe, [onerror], [onload], [onclick]"),
  ).toHaveLength(0);
  for (const link of container.querySelectorAll("a")) expect(link.href).toMatch(/^https?:/);
  expect(container.textContent).toContain(text.replaceAll("**", "").replaceAll("```", "").trim());
});

test("markdown becomes formatting", () => {
  render(<Markdown text={"## Title\n\n- **one**\n- `two`\n\nsee https://example.com/a."} />);
  expect(screen.getByText("Title").className).toContain("font-semibold");
  const [first, second] = within(screen.getByRole("list")).getAllByRole("listitem");
  expect(first?.querySelector("strong")?.textContent).toBe("one");
  expect(second?.querySelector("code")?.textContent).toBe("two");
  expect(screen.getByRole("link").getAttribute("rel")).toContain("noreferrer");
});

test("a system message is collapsed, the others are expanded", () => {
  render(
    <Conversation
      messages={[
        { role: "system", parts: [{ type: "text", text: "Be kind." }] },
        { role: "user", parts: [{ type: "text", text: "Hello" }] },
      ]}
    />,
  );
  expect(screen.getByRole("button", { name: /system/ }).getAttribute("aria-expanded")).toBe(
    "false",
  );
  expect(screen.getByRole("button", { name: /user/ }).getAttribute("aria-expanded")).toBe("true");
});
