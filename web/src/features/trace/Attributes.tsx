import { Link } from "@tanstack/react-router";
import { ListFilter } from "lucide-react";
import { useState } from "react";
import type { Span, Trace } from "@/lib/api";
import { ATTRIBUTE } from "@/lib/filterFields";
import { formatDateTime } from "@/lib/format";
import { CopyButton } from "@/ui/Copy";
import { Input } from "@/ui/Field";
import { JsonView } from "@/ui/JsonView";
import { UserLink } from "@/ui/UserLink";
import { FilterLink } from "./FilterLink";

/** All attributes of a span; the filter matches names and values. */
export function Attributes({ span, trace }: { span: Span; trace: Trace }) {
  const [text, setText] = useState("");
  const own: Record<string, unknown> = {
    started: formatDateTime(span.startTime),
    ended: formatDateTime(span.endTime),
    service: span.serviceName,
    environment: span.environment,
    agent: span.agentName,
    model: span.model,
    provider: span.provider,
    tool: span.toolName,
    session: span.sessionId,
    user: span.userId,
    experiment: span.experimentId,
    variant: span.variant,
    status: span.status,
    message: span.statusMessage || null,
  };
  // Traces are found by their own status, which may differ.
  const fields: typeof OWN_FIELDS = {
    ...OWN_FIELDS,
    ...(span.status === trace.status && { status: "status" }),
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
      <Rows entries={Object.entries(own).filter(matches)} fieldOf={(name) => fields[name]} />
      <Rows
        fieldOf={(name) => ATTRIBUTE + name}
        entries={Object.entries(span.attributes)
          .filter(matches)
          .sort((a, b) => a[0].localeCompare(b[0]))}
      />
    </div>
  );
}

/** The fields of filters by their names here. */
const OWN_FIELDS: Record<string, string | undefined> = {
  service: "service",
  environment: "environment",
  agent: "agent",
  model: "model",
  provider: "provider",
  tool: "tool",
  session: "sessionId",
  user: "userId",
  experiment: "experiment",
  variant: "variant",
};

interface RowsProps {
  entries: [string, unknown][];
  fieldOf: (name: string) => string | undefined;
}

function Rows({ entries, fieldOf }: RowsProps) {
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
            <Shown field={fieldOf(name)} value={value} />
          </dd>
          <dd className="flex items-center">
            <FilterButton name={name} field={fieldOf(name)} value={value} />
            <span className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
              <CopyButton
                text={typeof value === "string" ? value : JSON.stringify(value)}
                label={`Copy ${name}`}
              />
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Sessions and users have pages of their own. */
function Shown({ field, value }: { field?: string | undefined; value: unknown }) {
  if (field === "userId") return <UserLink userId={String(value)} />;
  if (field === "sessionId") {
    return (
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: String(value) }}
        className="hover:text-accent hover:underline"
      >
        {String(value)}
      </Link>
    );
  }
  return typeof value === "object" ? <JsonView value={value} /> : String(value);
}

/** The longest value that a filter takes. */
const MAX_VALUE = 512;

/** Opens the traces that have the same value; lists, objects and long texts cannot be filtered. */
function FilterButton({
  name,
  field,
  value,
}: {
  name: string;
  field?: string | undefined;
  value: unknown;
}) {
  const isFilterable =
    typeof value === "number" ||
    typeof value === "boolean" ||
    (typeof value === "string" && value !== "" && value.length <= MAX_VALUE);
  if (!field || !isFilterable) return null;
  return (
    <FilterLink
      field={field}
      value={value}
      label={`Filter by this value of ${name}`}
      title="Filter by this value"
      className="inline-flex size-7 items-center justify-center rounded text-muted hover:bg-hover"
    >
      <ListFilter className="size-3.5" aria-hidden />
    </FilterLink>
  );
}
