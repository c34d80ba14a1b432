/** The head of a trace: what it is, its totals and its actions. */
import { Link } from "@tanstack/react-router";
import { Info } from "lucide-react";
import type { ReactNode } from "react";
import type { TraceWithSpans } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { errorTypeLabel, shortErrorName } from "@/lib/errors";
import { formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { Badge, Dot } from "@/ui/Badge";
import { CopyId } from "@/ui/Copy";
import { Time } from "@/ui/Time";
import { UserLink } from "@/ui/UserLink";
import { FilterLink } from "./FilterLink";
import { Neighbours } from "./Neighbours";
import { TraceActions } from "./TraceActions";
import { explainUncounted } from "./usage";

/** The totals stay visible while the tree and the details scroll. */
export function TraceSummary({ trace, spanId }: { trace: TraceWithSpans; spanId?: string }) {
  return (
    <header className="flex flex-wrap items-center gap-x-5 gap-y-1.5 border-b px-4 py-2.5">
      <div className="min-w-0 flex-1 basis-96">
        <div className="flex flex-wrap items-center gap-x-2">
          <div className="flex max-w-full min-w-0 items-center gap-2">
            <Neighbours traceId={trace.traceId} />
            <h1 className="truncate text-lg font-semibold" title={trace.name}>
              {trace.name}
            </h1>
          </div>
          <Status trace={trace} />
        </div>
        <Facts trace={trace} />
      </div>
      <Totals trace={trace} />
      <TraceActions trace={trace} spanId={spanId} />
    </header>
  );
}

function Status({ trace: { status, errorName, errorType } }: { trace: TraceWithSpans }) {
  const name = shortErrorName(errorName, errorType);
  const type = errorTypeLabel(errorType);
  return (
    <FilterLink field="status" value={status}>
      {status === "error" ? (
        <Badge tone="bad">{name ? `${name} · ${type}` : type}</Badge>
      ) : (
        <Badge tone="good">success</Badge>
      )}
    </FilterLink>
  );
}

function Facts({ trace }: { trace: TraceWithSpans }) {
  const { agentName, environment, sessionId, userId, variant, models } = trace;
  return (
    <div className="flex flex-wrap items-center gap-x-3 text-sm text-muted">
      {agentName && (
        <FilterLink field="agent" value={agentName} className="inline-flex items-center gap-1.5">
          <Dot colour={colourOf("agent", agentName)} />
          {agentName}
        </FilterLink>
      )}
      <Time at={trace.startTime} as="full" />
      {environment && <FilterLink field="environment" value={environment} />}
      {models.map((model) => (
        <FilterLink key={model} field="model" value={model} />
      ))}
      {sessionId && (
        <span className="min-w-0 truncate">
          session{" "}
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId }}
            className="text-accent hover:underline"
          >
            {sessionId}
          </Link>
        </span>
      )}
      {userId && (
        <span className="min-w-0 truncate">
          user <UserLink userId={userId} className="text-accent" />
        </span>
      )}
      {variant && (
        <span>
          variant <FilterLink field="variant" value={variant} />
        </span>
      )}
      <CopyId id={trace.traceId} />
    </div>
  );
}

function Totals({ trace }: { trace: TraceWithSpans }) {
  const uncounted = explainUncounted(trace.spans);
  return (
    <dl className="ml-auto flex flex-wrap gap-x-5">
      <Total name="Duration">{formatDuration(trace.durationMs)}</Total>
      <Total name="Spans">{formatCount(trace.spanCount)}</Total>
      {trace.errorCount > 0 && (
        <Total name="Errors">
          <span className="text-bad">{formatCount(trace.errorCount)}</span>
        </Total>
      )}
      <Total
        name="Tokens"
        title={`${formatCount(trace.inputTokens)} in, ${formatCount(trace.outputTokens)} out`}
      >
        {formatCompact(trace.totalTokens)}
      </Total>
      <Total name="Cost">
        {formatCost(trace.cost)}
        {uncounted && (
          <span className="ml-1 inline-flex align-middle" title={uncounted}>
            <Info className="size-3.5 text-info" aria-hidden />
            <span className="sr-only">{uncounted}</span>
          </span>
        )}
      </Total>
    </dl>
  );
}

function Total({ name, title, children }: { name: string; title?: string; children: ReactNode }) {
  return (
    <div title={title} className="relative text-right">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="font-medium">{children}</dd>
    </div>
  );
}
