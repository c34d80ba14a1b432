/** The numbers of one agent over the time range. Each panel loads its own data. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Agent } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCost, formatCount, formatDuration, formatPercent } from "@/lib/format";
import { bucketEnd } from "@/lib/range";
import { SERIES } from "@/lib/series";
import { BarList } from "@/ui/BarList";
import { LEGEND_HEIGHT, TimeChart } from "@/ui/chart/TimeChart";
import { Figure, Figures } from "@/ui/Figures";
import { Panel } from "@/ui/Panel";
import { ErrorState, QueryResult } from "@/ui/states";
import { useAgentQueries } from "./agentQueries";

const HEIGHT = 180;
const MAX_TOOLS = 6;

interface OfAgent {
  agent: Agent;
}

export function Totals({ agent }: OfAgent) {
  const { data, error, refetch } = useQuery(useAgentQueries(agent.name).metrics);
  if (error && !data) {
    return (
      <div className="lg:col-span-2">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  return (
    <Figures className="lg:col-span-2">
      <Figure name="Traces" value={formatCount(data?.totalTraces)} />
      <Figure name="Error rate" value={formatPercent(data && 1 - data.successRate)} />
      <Figure name="Mean latency" value={formatDuration(data?.avgLatency)} />
      <Figure name="p95 latency" value={formatDuration(data?.p95Latency)} />
      <Figure name="Cost" value={formatCost(data?.estimatedCost)} />
    </Figures>
  );
}

export function Requests({ agent }: OfAgent) {
  const { granularity, outcomes } = useAgentQueries(agent.name);
  const query = useQuery(outcomes);
  const navigate = useNavigate();
  const openTraces = (date: string) =>
    void navigate({
      to: "/traces",
      search: {
        agent: agent.name,
        from: new Date(date).toISOString(),
        to: new Date(bucketEnd(date, granularity)).toISOString(),
        range: undefined,
      },
    });
  const drawn = useMemo(() => {
    const bars = { type: "bar", stack: "all" } as const;
    const trend = query.data?.trend ?? [];
    const succeeded = trend.map((point) => point.success);
    const failed = trend.map((point) => point.failure);
    return {
      dates: trend.map((point) => point.date),
      series: [
        { ...bars, ...SERIES.success, values: succeeded },
        { ...bars, ...SERIES.errors, values: failed },
      ],
    };
  }, [query.data]);
  return (
    <Panel title="Requests" unit="traces">
      <QueryResult query={query} height={HEIGHT + LEGEND_HEIGHT}>
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
      </QueryResult>
    </Panel>
  );
}

export function Latency({ agent }: OfAgent) {
  const { granularity, latency } = useAgentQueries(agent.name);
  const query = useQuery(latency);
  const drawn = useMemo(() => {
    const points = query.data ?? [];
    return {
      dates: points.map((point) => point.date),
      series: (["p50", "p95", "p99"] as const).map((name) => ({
        ...SERIES[name],
        values: points.map((point) => point[name]),
      })),
    };
  }, [query.data]);
  return (
    <Panel title="Latency" unit="of traces">
      <QueryResult query={query} height={HEIGHT + LEGEND_HEIGHT}>
        {() => (
          <TimeChart
            label={`Latency percentiles of ${agent.name} over time`}
            {...drawn}
            granularity={granularity}
            format={formatDuration}
            height={HEIGHT}
          />
        )}
      </QueryResult>
    </Panel>
  );
}

export function Cost({ agent }: OfAgent) {
  const { granularity, costs } = useAgentQueries(agent.name);
  const query = useQuery(costs);
  const drawn = useMemo(() => {
    const trend = query.data?.trend ?? [];
    const values = trend.map((point) => point.cost);
    return {
      dates: trend.map((point) => point.date),
      series: [{ ...SERIES.cost, type: "bar" as const, values }],
    };
  }, [query.data]);
  return (
    <Panel title="Cost" unit="USD">
      <QueryResult query={query} height={HEIGHT}>
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
      </QueryResult>
    </Panel>
  );
}

export function Tools({ agent }: OfAgent) {
  const query = useQuery(useAgentQueries(agent.name).tools);
  return (
    <Panel title="Tools" unit="calls">
      <QueryResult query={query} height={HEIGHT}>
        {({ heatmap }) => (
          <BarList
            bars={Object.entries(heatmap[agent.name] ?? {})
              .sort((a, b) => b[1] - a[1])
              .slice(0, MAX_TOOLS)
              .map(([name, value]) => ({
                key: name,
                label: name,
                value,
                shown: formatCount(value),
                colour: colourOf("agent", agent.name),
              }))}
            empty="No tool calls in this period"
          />
        )}
      </QueryResult>
    </Panel>
  );
}
