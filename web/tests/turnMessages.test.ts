import { expect, test } from "vitest";
import { turnMessages } from "@/features/sessions/turnMessages";
import type { Span, Trace } from "@/lib/api";

const trace = { inputPreview: "hello", outputPreview: "hi" } as Trace;

function span(fields: Partial<Span>): Span {
  const messages = { input: null, output: null };
  return { parentSpanId: null, messages, input: null, output: null, ...fields } as Span;
}

function said(role: string, text: string) {
  return [{ role, parts: [{ type: "text" as const, text }] }];
}

test("a coding agent's prompt, tool calls and answer are shown in order", () => {
  const spans = [
    span({ kind: "other", messages: { input: said("user", "fix it"), output: null } }),
    span({ kind: "llm" }),
    span({ kind: "tool", toolName: "Bash", input: { command: "ls" }, output: "a.py" }),
    span({ kind: "llm", messages: { input: null, output: said("assistant", "done") } }),
  ];
  const found = turnMessages(trace, spans);
  expect(found.map((message) => message.role)).toEqual(["user", "tool", "assistant"]);
  expect(found[1]?.parts.map((part) => part.type)).toEqual(["toolCall", "toolResult"]);
});

test("a trace with a root span shows its question and answer only", () => {
  const input = [...said("user", "first"), ...said("user", "second")];
  const root = span({ kind: "agent", messages: { input, output: said("assistant", "yes") } });
  const child = span({ kind: "tool", parentSpanId: "1", toolName: "search" });
  expect(turnMessages(trace, [root, child])).toEqual([
    ...said("user", "second"),
    ...said("assistant", "yes"),
  ]);
});

test("a trace without any message shows its previews", () => {
  expect(turnMessages(trace, [span({ kind: "chain" })])).toEqual([
    ...said("user", "hello"),
    ...said("assistant", "hi"),
  ]);
  expect(turnMessages(trace, undefined)).toHaveLength(2);
});
