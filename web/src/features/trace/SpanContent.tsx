/** Input and output, as a conversation if possible. */
import { CircleAlert } from "lucide-react";
import type { Span } from "@/lib/api";
import { errorTypeLabel } from "@/lib/errors";
import { type Message, readJson } from "@/lib/messages";
import { Conversation, Value } from "@/ui/Conversation";
import { PromptTemplate } from "./PromptTemplate";

export function SpanContent({ span }: { span: Span }) {
  const isEmpty = !span.input && !span.output;
  return (
    <div className="flex flex-col gap-4">
      <Failure span={span} />
      {isEmpty && span.status !== "error" && (
        <p className="py-8 text-center text-muted">This span has no input or output.</p>
      )}
      <PromptTemplate span={span} />
      {Boolean(span.input) && (
        <Side title="Input" messages={span.messages.input} raw={span.input} />
      )}
      {Boolean(span.output) && (
        <Side title="Output" messages={span.messages.output} raw={span.output} />
      )}
    </div>
  );
}

function Side({
  title,
  messages,
  raw,
}: {
  title: string;
  messages: Message[] | null;
  raw: unknown;
}) {
  return (
    <section>
      <h3 className="mb-1.5 text-sm text-muted">{title}</h3>
      {messages ? (
        <Conversation messages={messages} />
      ) : (
        <div className="rounded-md border bg-surface p-3">
          <Value value={readJson(raw)} />
        </div>
      )}
    </section>
  );
}

/** The error, shown first. */
function Failure({ span }: { span: Span }) {
  if (span.status !== "error") return null;
  const exception = span.events.find((event) => event.name === "exception")?.attributes;
  const type = exception?.["exception.type"];
  const message = span.statusMessage ?? exception?.["exception.message"];
  const stack = exception?.["exception.stacktrace"];
  return (
    <section className="rounded-md border border-bad bg-bad-soft p-3">
      <h3 className="flex items-center gap-1.5 font-medium text-bad">
        <CircleAlert className="size-4" aria-hidden />
        {typeof type === "string" ? type : errorTypeLabel(span.errorType)}
      </h3>
      {typeof message === "string" && (
        <p className="mt-1 [overflow-wrap:anywhere] whitespace-pre-wrap">{message}</p>
      )}
      {typeof stack === "string" && (
        <pre
          role="region"
          aria-label="Stack trace"
          tabIndex={0}
          className="mt-2 max-h-72 overflow-auto font-mono text-sm leading-5"
        >
          {stack}
        </pre>
      )}
    </section>
  );
}
