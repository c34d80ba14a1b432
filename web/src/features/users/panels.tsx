/** The latest traces, sessions and signals of a user. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, type Session, type Signal, unwrapPage } from "@/lib/api";
import { formatCost, formatCounted, formatNumber } from "@/lib/format";
import { previewText } from "@/lib/messages";
import { rangeQuery, useFilterQuery, useRange } from "@/lib/range";
import { Badge } from "@/ui/Badge";
import { LATEST_ROW, LATEST_TEXT, LatestRows, TraceRow, When } from "@/ui/latest";
import { Panel } from "@/ui/Panel";
import { SignalLabel } from "@/ui/SignalLabel";
import { QueryResult } from "@/ui/states";

const MOST = 10;
const HEIGHT = 320;
interface OfUser {
  userId: string;
}

export function LatestTraces({ userId }: OfUser) {
  const query = { ...useFilterQuery(), userId, errorNames: true, limit: MOST };
  const traces = useQuery({
    queryKey: ["users", "traces", query],
    queryFn: () => unwrapPage(api.GET("/api/spans/traces", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Latest traces">
      <QueryResult query={traces} height={HEIGHT}>
        {({ items }) => (
          <LatestRows empty="No traces in this period">
            {items.map((trace) => (
              <TraceRow key={trace.traceId} trace={trace} />
            ))}
          </LatestRows>
        )}
      </QueryResult>
    </Panel>
  );
}

export function LatestSessions({ userId }: OfUser) {
  const query = { ...useFilterQuery(), userId, limit: MOST };
  const sessions = useQuery({
    queryKey: ["users", "sessions", query],
    queryFn: () => unwrapPage(api.GET("/api/spans/sessions", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Latest sessions">
      <QueryResult query={sessions} height={HEIGHT}>
        {({ items }) => (
          <LatestRows empty="No sessions in this period">
            {items.map((one) => (
              <SessionRow key={one.sessionId} session={one} />
            ))}
          </LatestRows>
        )}
      </QueryResult>
    </Panel>
  );
}

function SessionRow({ session }: { session: Session }) {
  return (
    <li className="border-b last:border-0">
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: session.sessionId }}
        className={LATEST_ROW}
      >
        <When at={session.lastAt} />
        <span className={LATEST_TEXT} title={session.sessionId}>
          {previewText(session.inputPreview) || session.sessionId}
        </span>
        {session.errorCount > 0 && <Badge tone="bad">{session.errorCount} failed</Badge>}
        <span className="w-20 shrink-0 text-right">
          {formatCounted(session.traceCount, "turn")}
        </span>
        <span className="w-16 shrink-0 text-right text-muted">{formatCost(session.cost)}</span>
      </Link>
    </li>
  );
}

export function LatestSignals({ userId }: OfUser) {
  const query = { ...rangeQuery(useRange()), userId, limit: MOST };
  const signals = useQuery({
    queryKey: ["users", "signals", query],
    queryFn: () => unwrapPage(api.GET("/api/signals", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Latest signals" className="lg:col-span-2">
      <QueryResult query={signals} height={96}>
        {({ items }) => (
          <LatestRows empty="No signals of this user in this period">
            {items.map((signal) => (
              <SignalRow key={signal.id} signal={signal} />
            ))}
          </LatestRows>
        )}
      </QueryResult>
    </Panel>
  );
}

function SignalRow({ signal }: { signal: Signal }) {
  return (
    <li className="flex h-8 min-w-0 items-center gap-3 border-b last:border-0">
      <When at={signal.timestamp} />
      <span className="truncate font-medium" title={signal.signalName}>
        {signal.signalName}
      </span>
      <span>{formatNumber(signal.value)}</span>
      <SignalLabel signal={signal} />
      <span className="min-w-0 flex-1 truncate text-muted">{signal.comment}</span>
      {signal.traceId && (
        <Link
          to="/traces/$traceId"
          params={{ traceId: signal.traceId }}
          className="text-accent hover:underline"
        >
          Trace
        </Link>
      )}
    </li>
  );
}
