/** The columns of the trace list; the URL says which are shown. */
import { Link } from "@tanstack/react-router";
import type { Trace } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { previewText } from "@/lib/messages";
import { useUrl } from "@/lib/url";
import { Badge, Dot } from "@/ui/Badge";
import { type Column, RowLink } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { UserLink } from "@/ui/UserLink";

export interface Scale {
  duration: number;
  cost: number;
}

export const DEFAULT_COLUMNS = [
  "time",
  "name",
  "input",
  "output",
  "duration",
  "tokens",
  "cost",
  "model",
];

export function useColumnIds(): string[] {
  const { cols } = useUrl();
  return cols ? cols.split(",") : DEFAULT_COLUMNS;
}

/** `kept` is the part of the query string that links preserve. */
export function allColumns(scale: Scale, kept = ""): (Column<Trace> & { title: string })[] {
  return [
    {
      id: "time",
      title: "Time",
      header: "Time",
      width: "7.5rem",
      sort: "startTime",
      cell: (trace) => <Time at={trace.startTime} as="short" />,
    },
    {
      id: "name",
      title: "Name",
      header: "Name",
      width: "minmax(12rem, 1.2fr)",
      cell: (trace) => <Name trace={trace} kept={kept} />,
    },
    {
      id: "input",
      title: "Input",
      header: "Input",
      width: "minmax(8rem, 1.3fr)",
      cell: (trace) => <Words text={trace.inputPreview} />,
    },
    {
      id: "output",
      title: "Output",
      header: "Output",
      width: "minmax(8rem, 1.3fr)",
      cell: (trace) => <Words text={trace.outputPreview} />,
    },
    {
      id: "duration",
      title: "Duration",
      header: "Duration",
      width: "7rem",
      align: "right",
      sort: "duration",
      cell: (trace) => (
        <Measured share={trace.durationMs / scale.duration} colour="var(--series-0)">
          {formatDuration(trace.durationMs)}
        </Measured>
      ),
    },
    {
      id: "tokens",
      title: "Tokens",
      header: "Tokens",
      width: "4.5rem",
      align: "right",
      sort: "tokens",
      cell: (trace) => (
        <span
          title={`${formatCount(trace.inputTokens)} in, ${formatCount(trace.outputTokens)} out`}
        >
          {formatCompact(trace.totalTokens)}
        </span>
      ),
    },
    {
      id: "cost",
      title: "Cost",
      header: "Cost",
      width: "6rem",
      align: "right",
      sort: "cost",
      cell: (trace) => (
        <Measured share={trace.cost / scale.cost} colour="var(--series-1)">
          {formatCost(trace.cost)}
        </Measured>
      ),
    },
    {
      id: "model",
      title: "Models",
      header: "Models",
      width: "9rem",
      cell: (trace) => <Models models={trace.models} />,
    },
    {
      id: "tools",
      title: "Tools",
      header: "Tools",
      width: "9rem",
      cell: (trace) => <Listed names={trace.tools} />,
    },
    {
      id: "spans",
      title: "Spans",
      header: "Spans",
      width: "4rem",
      align: "right",
      cell: (trace) => formatCount(trace.spanCount),
    },
    {
      id: "user",
      title: "User",
      header: "User",
      width: "7rem",
      cell: (trace) => <UserLink userId={trace.userId} kept={kept} />,
    },
    {
      id: "session",
      title: "Session",
      header: "Session",
      width: "8rem",
      cell: (trace) => <SessionLink trace={trace} />,
    },
    {
      id: "environment",
      title: "Environment",
      header: "Environment",
      width: "7rem",
      cell: (trace) => trace.environment,
    },
    {
      id: "variant",
      title: "Variant",
      header: "Variant",
      width: "6rem",
      cell: (trace) => trace.variant,
    },
  ];
}

function Name({ trace, kept }: { trace: Trace; kept: string }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Dot colour={colourOf(trace.agentName ?? "unknown")} title={trace.agentName ?? "no agent"} />
      <RowLink
        href={`/traces/${trace.traceId}${kept}`}
        className="truncate hover:text-accent"
        title={trace.name}
      >
        {shortName(trace)}
      </RowLink>
      {trace.status === "error" && (
        <Badge tone="bad">{(trace.errorType ?? "error").replace("_", " ")}</Badge>
      )}
      {trace.status !== "error" && trace.errorCount > 0 && (
        <span title={`${trace.errorCount} failed spans in a successful trace`}>
          <Badge tone="warning">{trace.errorCount}</Badge>
        </span>
      )}
    </span>
  );
}

/** Drops the operation from names such as `invoke_agent support`. */
function shortName({ name, agentName }: Trace): string {
  return agentName && name === `invoke_agent ${agentName}` ? agentName : name;
}

function Words({ text }: { text: string }) {
  const shown = previewText(text);
  return (
    <span className="text-muted" title={shown.slice(0, 400)}>
      {shown}
    </span>
  );
}

/** A number with a bar that compares it to the largest loaded value. */
function Measured({
  share,
  colour,
  children,
}: {
  share: number;
  colour: string;
  children: string;
}) {
  return (
    <span className="relative block pb-1">
      {children}
      <span
        className="absolute right-0 bottom-0 left-6 h-0.5 rounded bg-raised bg-right bg-no-repeat"
        style={{
          backgroundImage: `linear-gradient(${colour}, ${colour})`,
          backgroundSize: `${Math.min(100, share * 100)}% 100%`,
        }}
      />
    </span>
  );
}

function Models({ models }: { models: string[] }) {
  const [first, ...rest] = models;
  if (!first) return <span className="text-faint">–</span>;
  return (
    <span className="inline-flex max-w-full items-center gap-1.5" title={models.join(", ")}>
      <Dot colour={colourOf(first)} />
      <span className="truncate">{first}</span>
      {rest.length > 0 && <span className="text-muted">+{rest.length}</span>}
    </span>
  );
}

function Listed({ names }: { names: string[] }) {
  return <span title={names.join(", ")}>{names.join(", ")}</span>;
}

function SessionLink({ trace }: { trace: Trace }) {
  if (!trace.sessionId) return null;
  return (
    <Link
      to={`/sessions/${encodeURIComponent(trace.sessionId)}`}
      onClick={(event) => event.stopPropagation()}
      className="hover:text-accent"
    >
      {trace.sessionId}
    </Link>
  );
}
