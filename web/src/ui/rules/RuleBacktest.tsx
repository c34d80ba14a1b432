/** Backtests a rule over the last 14 days: value, threshold or band, and when it would have fired. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type AlertRule, displayOf } from "@/lib/alerts";
import { api, unwrap } from "@/lib/api";
import { formatCount, formatDuration } from "@/lib/format";
import { Badge } from "../Badge";
import { Panel } from "../Panel";
import { ErrorState, Skeleton } from "../states";
import { Time } from "../Time";
import { BacktestChart } from "./BacktestChart";
import { type Backtest, toPeriod } from "./backtest";
import { toRule } from "./ruleDraft";

/** Without an agent, the rule is one of the workspace. */
export function RuleBacktest({ agentId, rule }: { agentId: string | null; rule: AlertRule }) {
  const { data, error, refetch, isFetching } = useQuery({
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
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 60_000,
  });
  const backtest = data?.rules[0];
  return (
    <Panel
      title="Last 14 days"
      unit={displayOf(rule).label.toLowerCase()}
      actions={backtest && <Verdict backtest={backtest} isFetching={isFetching} />}
    >
      {error ? (
        <ErrorState error={error} what="The backtest failed" onRetry={() => void refetch()} />
      ) : data && backtest ? (
        <Replay backtest={backtest} rule={rule} end={data.end} />
      ) : (
        <Skeleton className="h-[280px]" />
      )}
    </Panel>
  );
}

function Verdict({ backtest, isFetching }: { backtest: Backtest; isFetching: boolean }) {
  if (isFetching) return <span>running the backtest…</span>;
  if (backtest.fired === 0) return <Badge tone="good">would not have fired</Badge>;
  return (
    <Badge tone={backtest.fired > 14 ? "bad" : "warning"}>
      would have fired {backtest.fired === 1 ? "once" : `${backtest.fired} times`}
    </Badge>
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
