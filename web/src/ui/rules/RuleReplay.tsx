/** Replays a rule over the last 14 days: value, threshold or band, and when it would have fired. */
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

type Replay = Schemas["RuleBacktest"];

const HOUR = 3_600_000;
const CHART_HEIGHT = 240;

/** Without an agent, the rule is one of the workspace. */
export function RuleReplay({ agentId, rule }: { agentId: string | null; rule: AlertRule }) {
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
  const replay = data?.rules[0];
  return (
    <Panel
      title="Last 14 days"
      unit={displayOf(rule).label.toLowerCase()}
      actions={replay && <Verdict replay={replay} isFetching={isFetching} />}
    >
      {error ? (
        <ErrorState
          error={error}
          what="The rule could not be replayed"
          onRetry={() => void refetch()}
        />
      ) : data && replay ? (
        <ReplayChart replay={replay} rule={rule} end={data.end} />
      ) : (
        <Skeleton className="h-[280px]" />
      )}
    </Panel>
  );
}

function Verdict({ replay, isFetching }: { replay: Replay; isFetching: boolean }) {
  if (isFetching) return <span>replaying…</span>;
  if (replay.fired === 0) return <Badge tone="good">would not have fired</Badge>;
  return (
    <Badge tone={replay.fired > 14 ? "bad" : "warning"}>
      would have fired {replay.fired === 1 ? "once" : `${replay.fired} times`}
    </Badge>
  );
}

function hourOf(at: string): string {
  return new Date(Math.floor(new Date(at).getTime() / HOUR) * HOUR).toISOString();
}

function ReplayChart({ replay, rule, end }: { replay: Replay; rule: AlertRule; end: string }) {
  const { format } = displayOf(rule);
  const dates = useMemo(() => replay.points.map((point) => hourOf(point.at)), [replay]);
  const series = useMemo(() => toSeries(replay, rule), [replay, rule]);
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
      replay.firings.map((firing) => ({
        from: firing.start,
        to: Math.max(
          new Date(firing.end ?? end).getTime(),
          new Date(firing.start).getTime() + HOUR,
        ),
        colour: "var(--bad)",
      })),
    [replay, end],
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
      {replay.skipped > 0 && (
        <p className="mt-2 text-sm text-muted">
          {formatCount(replay.skipped)} of {formatCount(replay.windows)} windows had too few samples
          and were not evaluated.
        </p>
      )}
      {replay.fired > replay.firings.length && (
        <p className="mt-2 text-sm text-muted">
          The chart marks and the list names only the latest {formatCount(replay.firings.length)} of{" "}
          {formatCount(replay.fired)} times.
        </p>
      )}
      <ul
        aria-label="Times that the rule would have fired"
        tabIndex={0}
        className="mt-2 flex max-h-24 flex-wrap gap-x-5 gap-y-1 overflow-auto text-sm"
      >
        {replay.firings.map((firing) => (
          <li key={firing.start} className="flex items-center gap-1.5">
            <span aria-hidden className="size-2 rounded-sm bg-bad opacity-60" />
            <Time at={firing.start} as="short" />
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

function toSeries(replay: Replay, rule: AlertRule): Series[] {
  const name = rule.metric === "signal" ? (rule.signalName ?? "signal") : displayOf(rule).label;
  const series: Series[] = [
    { name, colour: "var(--accent)", values: replay.points.map((point) => point.value) },
  ];
  if (rule.condition !== "anomaly") return series;
  const edge = (label: string, pick: (point: Replay["points"][number]) => number | null) => {
    const values = replay.points.map(pick);
    if (values.some((value) => value !== null)) {
      series.push({ name: label, colour: "var(--warning)", values, isDashed: true });
    }
  };
  edge("upper bound", (point) => point.upper);
  edge("lower bound", (point) => point.lower);
  return series;
}
