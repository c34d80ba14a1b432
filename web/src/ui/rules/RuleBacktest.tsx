/** Backtests a rule over the last 14 days: value, threshold or band, and when it would have fired. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type AlertRule, displayOf } from "@/lib/alerts";
import { api, type Schemas, unwrap } from "@/lib/api";
import { formatCount, formatDuration, trimZeros } from "@/lib/format";
import { Badge } from "../Badge";
import type { Level, Period, Series } from "../chart/series";
import { TimeChart } from "../chart/TimeChart";
import { Panel } from "../Panel";
import { ErrorState, Skeleton } from "../states";
import { Time } from "../Time";
import { toRule } from "./ruleDraft";

type Backtest = Schemas["RuleBacktest"];

const HOUR = 3_600_000;
const CHART_HEIGHT = 240;

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
        <BacktestChart backtest={backtest} rule={rule} end={data.end} />
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

function hourOf(at: string): string {
  return new Date(Math.floor(new Date(at).getTime() / HOUR) * HOUR).toISOString();
}

function BacktestChart({
  backtest,
  rule,
  end,
}: {
  backtest: Backtest;
  rule: AlertRule;
  end: string;
}) {
  const { format } = displayOf(rule);
  const dates = useMemo(() => backtest.points.map((point) => hourOf(point.at)), [backtest]);
  const series = useMemo(() => toSeries(backtest, rule), [backtest, rule]);
  const levels = useMemo<Level[]>(
    () =>
      rule.threshold == null
        ? []
        : [
            {
              value: rule.threshold,
              label: trimZeros(format(rule.threshold)),
              colour: "var(--bad)",
            },
          ],
    [rule, format],
  );
  const periods = useMemo<Period[]>(
    () =>
      backtest.firings.map((firing) => ({
        from: firing.start,
        to: Math.max(
          new Date(firing.end ?? end).getTime(),
          new Date(firing.start).getTime() + HOUR,
        ),
        colour: "var(--bad)",
      })),
    [backtest, end],
  );
  return (
    <>
      <TimeChart
        label="Metric of the rule over the last 14 days"
        dates={dates}
        granularity="hourly"
        series={series}
        format={format}
        levels={levels}
        periods={periods}
        height={CHART_HEIGHT}
      />
      {backtest.skipped > 0 && (
        <p className="mt-2 text-sm text-muted">
          {formatCount(backtest.skipped)} of {formatCount(backtest.windows)} windows had too few
          samples and were not evaluated.
        </p>
      )}
      {backtest.fired > backtest.firings.length && (
        <p className="mt-2 text-sm text-muted">
          The chart marks and the list names only the latest {formatCount(backtest.firings.length)}{" "}
          of {formatCount(backtest.fired)} times.
        </p>
      )}
      <ul
        aria-label="Times that the rule would have fired"
        tabIndex={0}
        className="mt-2 flex max-h-24 flex-wrap gap-x-5 gap-y-1 overflow-auto text-sm"
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
    </>
  );
}

function toSeries(backtest: Backtest, rule: AlertRule): Series[] {
  const name = rule.metric === "signal" ? (rule.signalName ?? "signal") : displayOf(rule).label;
  const series: Series[] = [
    { name, colour: "var(--accent)", values: backtest.points.map((point) => point.value) },
  ];
  if (rule.condition !== "anomaly") return series;
  const edge = (label: string, pick: (point: Backtest["points"][number]) => number | null) => {
    const values = backtest.points.map(pick);
    if (values.some((value) => value !== null)) {
      series.push({ name: label, colour: "var(--warning)", values, isDashed: true });
    }
  };
  edge("upper bound", (point) => point.upper);
  edge("lower bound", (point) => point.lower);
  return series;
}
