/** The numbers of one agent over the time range. Each panel loads its own data. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Agent } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCost, formatCount, formatDuration, formatPercent } from "@/lib/format";
import { BarList } from "@/ui/BarList";
import { LEGEND_HEIGHT, TimeChart } from "@/ui/chart/TimeChart";
import { Panel } from "@/ui/Panel";
import { Answer, ErrorState } from "@/ui/states";
import { useFiguresOf } from "./figures";

const HEIGHT = 180;
const MOST_TOOLS = 6;

interface OfAgent {
  agent: Agent;
}

export function Totals({ agent }: OfAgent) {
  const { data, error, refetch } = useQuery(useFiguresOf(agent.name).metrics);
  if (error && !data) {
    return (
      <div className="lg:col-span-2">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  return (
    <dl className="grid grid-cols-2 gap-3 md:grid-cols-5 lg:col-span-2">
      <Figure name="Traces" value={formatCount(data?.totalTraces)} />
      <Figure name="Error rate" value={formatPercent(data && 1 - data.successRate)} />
      <Figure name="Mean latency" value={formatDuration(data?.avgLatency)} />
      <Figure name="p95 latency" value={formatDuration(data?.p95Latency)} />
      <Figure name="Cost" value={formatCost(data?.estimatedCost)} />
    </dl>
  );
}

export function Requests({ agent }: OfAgent) {
  const { granularity, outcomes } = useFiguresOf(agent.name);
  const question = useQuery(outcomes);
  const navigate = useNavigate();
  const openTraces = (date: string) =>
    void navigate({
      to: "/traces",
      search: { agent: agent.name, from: date, range: undefined } as never,
    });
  const drawn = useMemo(() => {
    const bars = { type: "bar", stack: "all" } as const;
    const trend = question.data?.trend ?? [];
    const succeeded = trend.map((point) => point.success);
    const failed = trend.map((point) => point.failure);
    return {
      dates: trend.map((point) => point.date),
      series: [
        { ...bars, name: "succeeded", colour: "var(--good)", values: succeeded },
        { ...bars, name: "failed", colour: "var(--bad)", values: failed },
      ],
    };
  }, [question.data]);
  return (
    <Panel title="Requests" unit="traces">
      <Answer question={question} height={HEIGHT + LEGEND_HEIGHT}>
        {() => (
          <TimeChart
            label={`Traces of ${agent.name} over time, by outcome`}
            {...drawn}
            granularity={granularity}
            format={formatCount}
            height={HEIGHT}
            onPick={openTraces}
          />
        )}
      </Answer>
    </Panel>
  );
}

export function Latency({ agent }: OfAgent) {
  const { granularity, latency } = useFiguresOf(agent.name);
  const question = useQuery(latency);
  const drawn = useMemo(() => {
    const points = question.data ?? [];
    return {
      dates: points.map((point) => point.date),
      series: (["p50", "p95", "p99"] as const).map((name, index) => ({
        name,
        colour: `var(--series-${[0, 1, 3][index]})`,
        values: points.map((point) => point[name]),
      })),
    };
  }, [question.data]);
  return (
    <Panel title="Latency" unit="of traces">
      <Answer question={question} height={HEIGHT + LEGEND_HEIGHT}>
        {() => (
          <TimeChart
            label={`Latency percentiles of ${agent.name} over time`}
            {...drawn}
            granularity={granularity}
            format={formatDuration}
            height={HEIGHT}
          />
        )}
      </Answer>
    </Panel>
  );
}

export function Cost({ agent }: OfAgent) {
  const { granularity, costs } = useFiguresOf(agent.name);
  const question = useQuery(costs);
  const drawn = useMemo(() => {
    const trend = question.data?.trend ?? [];
    const values = trend.map((point) => point.cost);
    return {
      dates: trend.map((point) => point.date),
      series: [{ name: "cost", colour: "var(--series-2)", type: "area" as const, values }],
    };
  }, [question.data]);
  return (
    <Panel title="Cost" unit="US dollars">
      <Answer question={question} height={HEIGHT}>
        {() => (
          <TimeChart
            label={`Cost of ${agent.name} over time`}
            {...drawn}
            granularity={granularity}
            format={formatCost}
            height={HEIGHT}
            hasLegend={false}
          />
        )}
      </Answer>
    </Panel>
  );
}

export function Tools({ agent }: OfAgent) {
  const question = useQuery(useFiguresOf(agent.name).tools);
  return (
    <Panel title="Tools" unit="calls">
      <Answer question={question} height={HEIGHT}>
        {({ heatmap }) => (
          <BarList
            bars={Object.entries(heatmap[agent.name] ?? {})
              .sort((a, b) => b[1] - a[1])
              .slice(0, MOST_TOOLS)
              .map(([name, value]) => ({
                key: name,
                label: name,
                value,
                shown: formatCount(value),
                colour: colourOf(agent.name),
              }))}
            empty="No tool was called in this period"
          />
        )}
      </Answer>
    </Panel>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className="rounded-lg border bg-surface px-3.5 py-2.5">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-xl font-semibold">{value}</dd>
    </div>
  );
}
