import { describe, expect, test } from "vitest";
import { parseMessages, previewText } from "@/lib/messages";

describe("messages of each SDK are parsed", () => {
  test("OpenTelemetry GenAI", () => {
    const messages = parseMessages(
      [
        { role: "user", parts: [{ type: "text", content: "Weather?" }] },
        {
          role: "assistant",
          parts: [{ type: "tool_call", id: "1", name: "weather", arguments: { city: "Oslo" } }],
        },
        { role: "tool", parts: [{ type: "tool_call_response", id: "1", response: "rain" }] },
      ],
      "user",
    );
    expect(messages?.map((one) => one.role)).toEqual(["user", "assistant", "tool"]);
    expect(messages?.[1]?.parts).toEqual([
      { kind: "call", id: "1", name: "weather", args: { city: "Oslo" } },
    ]);
    expect(messages?.[2]?.parts[0]).toMatchObject({ kind: "result", result: "rain" });
  });

  test("OpenAI, with arguments as text and images", () => {
    const messages = parseMessages(
      {
        messages: [
          { role: "developer", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image_url", image_url: { url: "data:…" } },
            ],
          },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "1", function: { name: "look", arguments: '{"at":1}' } }],
          },
          { role: "tool", tool_call_id: "1", content: "a cat" },
        ],
      },
      "user",
    );
    expect(messages?.map((one) => one.role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(messages?.[1]?.parts[1]).toMatchObject({ kind: "media", what: "image" });
    expect(messages?.[2]?.parts).toEqual([
      { kind: "call", id: "1", name: "look", args: { at: 1 } },
    ]);
    expect(messages?.[3]?.parts[0]).toMatchObject({ kind: "result", id: "1", result: "a cat" });
  });

  test("Anthropic's blocks", () => {
    const messages = parseMessages(
      [
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm." },
            { type: "tool_use", id: "t", name: "add", input: { a: 1 } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "2" }] },
      ],
      "user",
    );
    expect(messages?.[0]?.parts.map((part) => part.kind)).toEqual(["reasoning", "call"]);
    expect(messages?.[1]?.parts[0]).toMatchObject({ kind: "result", id: "t", result: "2" });
  });

  test("the Vercel AI SDK's parts, LangChain's messages and OpenAI's choices", () => {
    const vercel = [
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "v", toolName: "sum", input: {} }],
      },
    ];
    expect(parseMessages(JSON.stringify(vercel), "user")?.[0]?.parts[0]).toMatchObject({
      kind: "call",
      id: "v",
      name: "sum",
    });
    const chain = [[{ lc: 1, type: "constructor", kwargs: { content: "Hi", type: "human" } }]];
    expect(parseMessages(chain, "user")).toEqual([
      { role: "user", parts: [{ kind: "text", text: "Hi" }] },
    ]);
    const choices = { choices: [{ message: { role: "assistant", content: "Hello" } }] };
    expect(parseMessages(choices, "assistant")?.[0]?.parts).toEqual([
      { kind: "text", text: "Hello" },
    ]);
  });
});

test("plain text is one message, other JSON is none", () => {
  expect(parseMessages("Hello", "user")).toEqual([
    { role: "user", parts: [{ kind: "text", text: "Hello" }] },
  ]);
  expect(parseMessages({ invoice: 3 }, "user")).toBeNull();
  expect(parseMessages([1, 2], "user")).toBeNull();
  expect(parseMessages(null, "user")).toEqual([]);
});

test("a preview shows the text, also of truncated JSON", () => {
  const cut = '[{"role":"user","parts":[{"type":"text","content":"Say \\"hi\\" to M\\u00e4';
  expect(previewText(cut)).toBe('Say "hi" to Mä');
  expect(previewText("plain")).toBe("plain");
  expect(previewText('{"number": 3}')).toBe('{"number": 3}');
});
