/** The cells of the trace list. */
import { Link } from "@tanstack/react-router";
import type { Trace } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCounted } from "@/lib/format";
import { previewText } from "@/lib/messages";
import { Badge, Dot } from "@/ui/Badge";
import { ErrorBadge } from "@/ui/ErrorBadge";
import { RowLink } from "@/ui/Table";

export function Name({ trace, search }: { trace: Trace; search: string }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Dot
        colour={colourOf("agent", trace.agentName ?? "unknown")}
        title={trace.agentName ?? "no agent"}
      />
      <RowLink
        href={`/traces/${trace.traceId}${search}`}
        className="truncate hover:text-accent"
        title={trace.name}
      >
        {shortName(trace)}
      </RowLink>
      {trace.status === "error" && <ErrorBadge of={trace} />}
      {trace.status !== "error" && trace.errorCount > 0 && (
        <span title={`${formatCounted(trace.errorCount, "failed span")} in a successful trace`}>
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

export function Words({ text }: { text: string }) {
  const shown = previewText(text);
  return (
    <span className="text-muted" title={shown.slice(0, 400)}>
      {shown}
    </span>
  );
}

/** A number with a bar that compares it to the largest loaded value. */
export function Measured({
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

export function Models({ models }: { models: string[] }) {
  const [first, ...rest] = models;
  if (!first) return <span className="text-faint">–</span>;
  return (
    <span className="inline-flex max-w-full items-center gap-1.5" title={models.join(", ")}>
      <Dot colour={colourOf("model", first)} />
      <span className="truncate">{first}</span>
      {rest.length > 0 && <span className="text-muted">+{rest.length}</span>}
    </span>
  );
}

export function Listed({ names }: { names: string[] }) {
  return <span title={names.join(", ")}>{names.join(", ")}</span>;
}

export function SessionLink({ trace }: { trace: Trace }) {
  if (!trace.sessionId) return null;
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: trace.sessionId }}
      onClick={(event) => event.stopPropagation()}
      className="hover:text-accent"
    >
      {trace.sessionId}
    </Link>
  );
}
