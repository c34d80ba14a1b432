/** The messages of one turn of a session. */
import type { Span, Trace } from "@/lib/api";
import { type Message, previewText } from "@/lib/messages";

/**
 * The last question of the root span and its answer; earlier messages are in the turns above. Coding
 * agents have no root span: their prompts, tool calls and answers are shown one after another.
 */
export function turnMessages(trace: Trace, spans: Span[] | undefined): Message[] {
  const roots = spans?.filter((span) => !span.parentSpanId) ?? [];
  const root = roots[0] ?? spans?.[0];
  const hasText = Boolean(root?.messages.input ?? root?.messages.output);
  if (spans && (roots.length > 1 || !hasText)) {
    const steps = spans.filter((span) => !span.countedIn).flatMap(stepMessages);
    if (steps.length > 0) return steps;
  }
  const question = root?.messages.input?.findLast((message) => message.role === "user");
  return [
    ...(question ? [question] : fallback("user", trace.inputPreview)),
    ...(root?.messages.output ?? fallback("assistant", trace.outputPreview)),
  ];
}

function fallback(role: string, words: string): Message[] {
  return words ? [{ role, parts: [{ type: "text", text: previewText(words) }] }] : [];
}

function stepMessages(span: Span): Message[] {
  switch (span.kind) {
    case "llm":
      return span.messages.output ?? [];
    case "tool":
      return [toolMessage(span)];
    default: {
      const question = span.messages.input?.findLast((message) => message.role === "user");
      return question ? [question] : [];
    }
  }
}

function toolMessage(span: Span): Message {
  const name = span.toolName ?? span.name;
  const isAnswered = span.output !== null && span.output !== undefined;
  return {
    role: "tool",
    parts: [
      { type: "toolCall", id: null, name, arguments: span.input },
      ...(isAnswered ? [{ type: "toolResult" as const, id: null, name, result: span.output }] : []),
    ],
  };
}
