import { useState } from "react";
import type { Span } from "@/lib/api";
import { formatDateTime } from "@/lib/format";
import { CopyButton } from "@/ui/Copy";
import { Input } from "@/ui/Field";
import { JsonView } from "@/ui/JsonView";

/** All attributes of a span; the filter matches names and values. */
export function Attributes({ span }: { span: Span }) {
  const [text, setText] = useState("");
  const own: Record<string, unknown> = {
    started: formatDateTime(span.startTime),
    ended: formatDateTime(span.endTime),
    service: span.serviceName,
    environment: span.environment,
    agent: span.agentName,
    provider: span.provider,
    session: span.sessionId,
    user: span.userId,
    experiment: span.experimentId,
    variant: span.variant,
    status: span.statusMessage ? `${span.status}: ${span.statusMessage}` : span.status,
  };
  const matches = ([name, value]: [string, unknown]) =>
    value !== null && `${name} ${JSON.stringify(value)}`.toLowerCase().includes(text.toLowerCase());
  return (
    <div className="flex flex-col gap-3">
      <Input
        aria-label="Filter attributes"
        placeholder="Filter attributes"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Rows entries={Object.entries(own).filter(matches)} />
      <Rows
        entries={Object.entries(span.attributes)
          .filter(matches)
          .sort((a, b) => a[0].localeCompare(b[0]))}
      />
    </div>
  );
}

function Rows({ entries }: { entries: [string, unknown][] }) {
  if (entries.length === 0) return null;
  return (
    <dl className="rounded-md border bg-surface">
      {entries.map(([name, value]) => (
        <div
          key={name}
          className="group grid grid-cols-[minmax(8rem,38%)_1fr_auto] items-start gap-3 border-b px-2.5 py-1 last:border-b-0"
        >
          <dt className="truncate py-1 font-mono text-sm text-muted" title={name}>
            {name}
          </dt>
          <dd className="min-w-0 py-1 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
            {typeof value === "object" ? <JsonView value={value} /> : String(value)}
          </dd>
          <dd className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
            <CopyButton
              text={typeof value === "string" ? value : JSON.stringify(value)}
              label={`Copy ${name}`}
            />
          </dd>
        </div>
      ))}
    </dl>
  );
}
