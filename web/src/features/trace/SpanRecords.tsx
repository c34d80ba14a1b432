/** The events of a span, the logs of its trace, and signals for both. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, type Log, type Signal, type Span, unwrapPage } from "@/lib/api";
import { formatDuration, formatNumber } from "@/lib/format";
import { useUrlState } from "@/lib/url";
import { Badge, type Tone } from "@/ui/Badge";
import { Checkbox } from "@/ui/Field";
import { JsonView } from "@/ui/JsonView";
import { SignalLabel } from "@/ui/SignalLabel";
import { ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { SignalForm } from "./SignalForm";
import { toMs } from "./tree";

const LEVELS: Record<Log["level"], Tone> = {
  trace: "neutral",
  debug: "neutral",
  info: "info",
  warn: "warning",
  error: "bad",
  fatal: "bad",
};

function Nothing({ children }: { children: ReactNode }) {
  return <p className="py-8 text-center text-muted">{children}</p>;
}

export function Events({ span }: { span: Span }) {
  if (span.events.length === 0) return <Nothing>No events in this span</Nothing>;
  return (
    <ol className="flex flex-col gap-2">
      {span.events.map((event, index) => (
        <li key={index} className="rounded-md border bg-surface p-2.5">
          <div className="mb-1 flex gap-2">
            <span className="font-medium">{event.name}</span>
            <span className="ml-auto text-sm text-muted">
              {event.time && `+ ${formatDuration(toMs(event.time) - toMs(span.startTime))}`}
            </span>
          </div>
          <JsonView value={event.attributes} />
        </li>
      ))}
    </ol>
  );
}

export function Logs({ span }: { span: Span }) {
  const [scope, setScope] = useUrlState("logs", "trace");
  const { traceId } = span;
  const { data, error, refetch } = useQuery({
    queryKey: ["logs", "trace", traceId],
    queryFn: () =>
      unwrapPage(
        api.GET("/api/logs/trace/{traceId}", {
          params: { path: { traceId }, query: { limit: 100 } },
        }),
      ),
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={5} />;
  const shown = data.items.filter((log) => scope === "trace" || log.spanId === span.spanId);
  return (
    <div className="flex flex-col gap-2">
      <Checkbox
        label="This span only"
        checked={scope === "span"}
        onChange={(event) => setScope(event.target.checked ? "span" : "trace")}
      />
      {shown.length === 0 && <Nothing>No logs</Nothing>}
      <ol>
        {shown.map((log) => (
          <li key={log.id} className="flex gap-2 border-b py-1.5">
            <Badge tone={LEVELS[log.level]}>{log.level}</Badge>
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere] whitespace-pre-wrap">
              {log.message}
            </span>
            <span className="text-sm text-muted">
              <Time at={log.timestamp} as="precise" />
            </span>
          </li>
        ))}
      </ol>
      {data.pagination.hasMore && (
        <Nothing>and {data.pagination.total - data.items.length} more</Nothing>
      )}
    </div>
  );
}

export function Signals({ signals, span }: { signals: Signal[]; span: Span }) {
  // Who looks at the root judges the whole trace.
  const of = span.parentSpanId ? "span" : "trace";
  return (
    <>
      <SignalForm traceId={span.traceId} spanId={span.spanId} of={of} />
      {signals.length === 0 && <Nothing>No signals for this span or its trace</Nothing>}
      <ol className="mt-3">
        {signals.map((signal) => (
          <li key={signal.id} className="flex items-baseline gap-3 border-b py-1.5">
            <span className="font-medium">{signal.signalName}</span>
            <span>{formatNumber(signal.value)}</span>
            <SignalLabel signal={signal} />
            <span className="min-w-0 flex-1 text-muted [overflow-wrap:anywhere]">
              {signal.comment}
            </span>
            <span className="text-sm text-muted">
              {signal.spanId ? "" : "trace · "}
              <Time at={signal.timestamp} as="precise" />
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
