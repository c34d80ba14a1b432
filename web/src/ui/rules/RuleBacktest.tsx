/** Backtests a rule over the last 14 days: value, threshold or band, and when it would have fired. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type AlertRule, displayOf } from "@/lib/alerts";
import { api, unwrap } from "@/lib/api";
import { formatCount, formatCounted, formatDuration } from "@/lib/format";
import { useDebounced } from "@/lib/useDebounced";
import { Badge } from "../Badge";
import { Panel } from "../Panel";
import { ErrorState, Skeleton } from "../states";
import { Time } from "../Time";
import { BacktestChart } from "./BacktestChart";
import { type Backtest, describeFired, subjectOf, toPeriod } from "./backtest";
import { toRule } from "./ruleDraft";

const TYPING_MS = 500;
/** A rule that fires more often than this is noise. */
const MOST_FIRINGS = 14;
const CALM_MINUTES = 60;

interface Props {
  /** Without an agent, the rule is one of the workspace. */
  agentId: string | null;
  rule: AlertRule;
}

/** The backtest of a rule once typing pauses. */
export function RuleBacktest({ agentId, rule }: Props) {
  const settled = useDebounced(rule, TYPING_MS);
  const isOther = subjectOf(settled) !== subjectOf(rule);
  const answer = useQuery({
    ...backtestOf(agentId, settled),
    // Only the result of another threshold or window may stay until that of this one arrives.
    placeholderData: (before, earlier) => {
      const last = earlier?.queryKey[3] as AlertRule | undefined;
      return last && subjectOf(last) === subjectOf(settled) ? before : undefined;
    },
  });
  const { error, refetch } = answer;
  const data = isOther ? undefined : answer.data;
  const isWaiting = settled !== rule || answer.isFetching;
  const backtest = data?.rules[0];
  return (
    <Panel
      title="Last 14 days"
      unit={displayOf(rule).label.toLowerCase()}
      actions={
        isWaiting ? (
          <span>running the backtest…</span>
        ) : (
          backtest && <Verdict backtest={backtest} agentId={agentId} rule={settled} />
        )
      }
    >
      {error && !isOther ? (
        <ErrorState error={error} what="The backtest failed" onRetry={() => void refetch()} />
      ) : data && backtest ? (
        <Replay backtest={backtest} rule={settled} end={data.end} />
      ) : (
        <Skeleton className="h-[280px]" />
      )}
    </Panel>
  );
}

function backtestOf(agentId: string | null, rule: AlertRule) {
  return queryOptions({
    queryKey: ["agents", "backtest", agentId, rule],
    queryFn: () => {
      const notify = { emails: [], webhooks: [], channels: [] };
      const body = { enabled: true, rules: [toRule(rule)], notify };
      return unwrap(
        agentId === null
          ? api.POST("/api/alerts/backtest", { body })
          : api.POST("/api/agents/{agentId}/alerts/backtest", {
              params: { path: { agentId } },
              body,
            }),
      );
    },
    retry: false,
    staleTime: 60_000,
  });
}

function Verdict({ agentId, rule, backtest: { fired } }: Props & { backtest: Backtest }) {
  const tone = fired === 0 ? "good" : fired > MOST_FIRINGS ? "bad" : "warning";
  const isNoisy = fired > MOST_FIRINGS && rule.windowMinutes < CALM_MINUTES;
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <Badge tone={tone}>{describeFired(fired)}</Badge>
      {isNoisy && <Calmer agentId={agentId} rule={rule} />}
    </span>
  );
}

/** How often a noisy rule would fire with a longer window. */
function Calmer({ agentId, rule }: Props) {
  const calm = { ...rule, windowMinutes: CALM_MINUTES };
  const { data } = useQuery(backtestOf(agentId, calm));
  const fired = data?.rules[0]?.fired;
  if (fired === undefined) return null;
  return (
    <span className="text-muted">
      with {CALM_MINUTES} min instead of {rule.windowMinutes}: {formatCounted(fired, "time")}
    </span>
  );
}

function Replay({ backtest, rule, end }: { backtest: Backtest; rule: AlertRule; end: string }) {
  const { format } = displayOf(rule);
  const periods = useMemo(
    () => backtest.firings.map((firing) => toPeriod(firing.start, firing.end ?? end, "var(--bad)")),
    [backtest, end],
  );
  return (
    <>
      <BacktestChart
        label="Metric of the rule over the last 14 days"
        backtest={backtest}
        rule={rule}
        periods={periods}
      />
      {backtest.fired > backtest.firings.length && (
        <p className="mt-2 text-sm text-muted">
          The chart marks and the list names only the latest {formatCount(backtest.firings.length)}{" "}
          of {formatCount(backtest.fired)} times.
        </p>
      )}
      {backtest.firings.length > 0 && (
        <ul
          aria-label="Times that the rule would have fired"
          tabIndex={0}
          className="mt-2 flex max-h-[5.25rem] flex-wrap gap-x-5 gap-y-1 overflow-auto text-sm"
        >
          {backtest.firings.map((firing) => (
            <li key={firing.start} className="flex items-center gap-1.5">
              <span aria-hidden className="size-2 rounded-sm bg-bad opacity-60" />
              <Time at={firing.start} as="precise" />
              <span className="text-muted">
                {firing.end
                  ? `for ${formatDuration(new Date(firing.end).getTime() - new Date(firing.start).getTime())}`
                  : "until now"}
                , {format(firing.value)} at first
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
