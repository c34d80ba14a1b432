/** One conversation: its traces as turns, oldest first. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ArrowUpRight } from "lucide-react";
import type { ReactNode } from "react";
import { api, type Session, type Span, type Trace, unwrap } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { useShownName } from "@/lib/title";
import { readList } from "@/lib/traceFilters";
import { useUrl, useUrlState } from "@/lib/url";
import { Dot } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Conversation } from "@/ui/Conversation";
import { CopyId } from "@/ui/Copy";
import { ErrorBadge } from "@/ui/ErrorBadge";
import { PageBody } from "@/ui/Panel";
import { ErrorState, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { UserLink } from "@/ui/UserLink";
import { turnMessages } from "./turnMessages";

const TURNS_AT_ONCE = 20;

export default function SessionPage() {
  const { sessionId = "" } = useParams({ strict: false }) as { sessionId?: string };
  const { data, error, refetch } = useQuery({
    queryKey: ["session", sessionId],
    queryFn: () =>
      unwrap(api.GET("/api/spans/sessions/{sessionId}", { params: { path: { sessionId } } })),
  });
  useShownName(sessionId);
  const url = useUrl();
  const [turns, setTurns] = useUrlState("turns", String(TURNS_AT_ONCE));
  const shown = Math.max(1, Number.parseInt(turns, 10) || TURNS_AT_ONCE);
  const traces = data?.traces.slice(0, shown) ?? [];
  const spans = useSpans(traces);
  if (error) {
    return (
      <ErrorState isPage error={error} onRetry={() => void refetch()}>
        <Link to="/sessions" className="flex h-8 items-center text-accent hover:underline">
          All sessions
        </Link>
      </ErrorState>
    );
  }
  return (
    <PageBody
      title="Session"
      // The list from which it was opened, with its filters.
      crumbs={[{ label: "Sessions", to: "/sessions", search: readList(url) }]}
      isNarrow
      actions={<CopyId id={sessionId} ends={16} />}
    >
      {!data ? (
        <Skeleton className="h-40" />
      ) : (
        <>
          <Facts session={data} />
          <dl className="mb-4 grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line sm:grid-cols-5">
            <Total name="Turns">{formatCount(data.traceCount)}</Total>
            <Total name="Failed">
              <span className={data.errorCount > 0 ? "text-bad" : ""}>
                {formatCount(data.errorCount)}
              </span>
            </Total>
            <Total name="Duration">
              {formatDuration(Date.parse(data.lastAt) - Date.parse(data.firstAt))}
            </Total>
            <Total name="Tokens">{formatCompact(data.totalTokens)}</Total>
            <Total name="Cost">{formatCost(data.cost)}</Total>
          </dl>
          <ol className="flex flex-col gap-5">
            {traces.map((trace, index) => (
              <Turn
                key={trace.traceId}
                trace={trace}
                sessionId={sessionId}
                number={index + 1}
                spans={spans[index]}
              />
            ))}
          </ol>
          {data.traces.length > shown && (
            <div className="mt-4 text-center">
              <Button onClick={() => setTurns(String(shown + TURNS_AT_ONCE))}>
                Show more of {formatCount(data.traces.length)} turns
              </Button>
            </div>
          )}
        </>
      )}
    </PageBody>
  );
}

function Facts({ session: { userId, firstAt, lastAt } }: { session: Session }) {
  return (
    <p className="mb-3 flex flex-wrap gap-x-4 text-sm text-muted">
      {userId && (
        <span className="max-w-full truncate">
          User{" "}
          <span className="text-accent">
            <UserLink userId={userId} />
          </span>
        </span>
      )}
      <span>
        <Time at={firstAt} as="full" /> – <Time at={lastAt} as="full" />
      </span>
    </p>
  );
}

/** The list has previews only; the full messages are in the spans of each trace. */
function useSpans(traces: Trace[]): (Span[] | undefined)[] {
  return useQueries({
    queries: traces.map(({ traceId }) => ({
      queryKey: ["trace", traceId],
      queryFn: () =>
        unwrap(api.GET("/api/spans/traces/{traceId}", { params: { path: { traceId } } })),
      staleTime: 300_000,
    })),
    combine: (answers) => answers.map(({ data }) => data?.spans),
  });
}

function Total({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="bg-surface px-3.5 py-2 max-sm:last:col-span-2">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-lg font-medium">{children}</dd>
    </div>
  );
}

interface TurnProps {
  trace: Trace;
  /** The trace page steps through it. */
  sessionId: string;
  number: number;
  spans: Span[] | undefined;
}

function Turn({ trace, sessionId, number, spans }: TurnProps) {
  const { list } = useUrl();
  return (
    <li>
      <header className="mb-1.5 flex flex-wrap items-center gap-2 text-sm text-muted">
        <span className="font-medium text-fg">{number}</span>
        {trace.agentName && (
          <span className="inline-flex items-center gap-1.5">
            <Dot colour={colourOf("agent", trace.agentName)} />
            {trace.agentName}
          </span>
        )}
        <Time at={trace.startTime} as="full" />
        {trace.status === "error" && <ErrorBadge of={trace} />}
        <span className="ml-auto">{formatDuration(trace.durationMs)}</span>
        <span>{formatCost(trace.cost)}</span>
        <Link
          to="/traces/$traceId"
          params={{ traceId: trace.traceId }}
          search={{ session: sessionId, list }}
          className="inline-flex items-center gap-0.5 text-accent hover:underline"
        >
          trace <ArrowUpRight className="size-3" aria-hidden />
        </Link>
      </header>
      <Conversation messages={turnMessages(trace, spans)} />
    </li>
  );
}
