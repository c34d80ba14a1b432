/** The charts of the overview. */

import type { UseQueryResult } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { PERCENTILE_NOTE } from "@/lib/analyticsQuery";
import type { Granularity } from "@/lib/api";
import { writeConditions } from "@/lib/conditions";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
} from "@/lib/format";
import { bucketEnd } from "@/lib/range";
import { SERIES } from "@/lib/series";
import type { Search } from "@/lib/url";
import { OTHER, type Series, topSeries } from "@/ui/chart/series";
import { LEGEND_HEIGHT, TimeChart } from "@/ui/chart/TimeChart";
import { Panel } from "@/ui/Panel";
import { QueryResult } from "@/ui/states";
import { ExploreLink } from "./ExploreLink";
import type { Overview } from "./queries";

const HEIGHT = 190;

/** The URL parameters for the traces of a clicked series, if it is one of several in a stack. */
type FilterOf = (stacked: string | undefined) => Search;

/** Opens the traces of a clicked bucket. */
function usePick(granularity: Granularity, filterOf?: FilterOf) {
  const navigate = useNavigate();
  return (date: string, stacked?: string) => {
    const from = new Date(date).toISOString();
    const to = new Date(bucketEnd(date, granularity)).toISOString();
    const search = { ...filterOf?.(stacked), from, to, range: undefined };
    void navigate({ to: "/traces", search: search as never });
  };
}

interface ChartProps<T> {
  query: UseQueryResult<T[]>;
  granularity: Granularity;
  title: string;
  unit?: ReactNode;
  build: (points: T[]) => Series[];
  format: (value: number) => string;
  filterOf?: FilterOf;
  className?: string;
}

function ChartPanel<T extends { date: string }>(props: ChartProps<T>) {
  const { query, granularity, title, unit, format, className } = props;
  return (
    <Panel title={title} unit={unit} className={className} actions={<ExploreLink title={title} />}>
      <QueryResult query={query} height={HEIGHT + LEGEND_HEIGHT}>
        {(points) => (
          <PointsChart
            points={points}
            build={props.build}
            granularity={granularity}
            label={`${title} over time`}
            format={format}
            filterOf={props.filterOf}
          />
        )}
      </QueryResult>
    </Panel>
  );
}

interface PointsProps<T> {
  points: T[];
  build: (points: T[]) => Series[];
  granularity: Granularity;
  label: string;
  format: (value: number) => string;
  filterOf?: FilterOf | undefined;
}

function PointsChart<T extends { date: string }>(props: PointsProps<T>) {
  const { points, build, granularity, label, format } = props;
  const dates = useMemo(() => points.map((point) => point.date), [points]);
  const series = useMemo(() => build(points), [points, build]);
  const pick = usePick(granularity, props.filterOf);
  return (
    <TimeChart
      label={label}
      dates={dates}
      granularity={granularity}
      series={series}
      format={format}
      height={HEIGHT}
      onPick={pick}
    />
  );
}

type Point<K extends keyof Overview> = Overview[K] extends UseQueryResult<(infer T)[]> ? T : never;

function byAgent(points: Point<"requests">[]): Series[] {
  const tops = topSeries(
    "agent",
    points.map((point) => point.byAgent),
  );
  return tops.map((one) => ({ ...one, type: "bar", stack: "agents" }));
}

function ofAgent(stacked: string | undefined): Search {
  return stacked && stacked !== OTHER ? { agent: stacked } : {};
}

function ofOutcome(stacked: string | undefined): Search {
  if (stacked === SERIES.errors.name) return ofStatus("error");
  return stacked === SERIES.success.name ? ofStatus("success") : {};
}

function ofStatus(value: "error" | "success"): Search {
  return { filters: writeConditions([{ field: "status", op: "eq", value }]) };
}

function outcomes(points: Point<"errorRate">[]): Series[] {
  const success = points.map((point) => point.total - point.errors);
  return [
    {
      ...SERIES.success,
      values: success,
      type: "bar",
      stack: "outcome",
    },
    {
      ...SERIES.errors,
      values: points.map((point) => point.errors),
      type: "bar",
      stack: "outcome",
    },
  ];
}

function errorRates(points: Point<"errorRate">[]): Series[] {
  const rates = points.map((point) => (point.total ? point.errorRate : null));
  return [{ ...SERIES.errorRate, values: rates, type: "area" }];
}

function latencies(points: Point<"percentiles">[]): Series[] {
  return [
    { ...SERIES.p50, values: points.map((point) => point.p50) },
    { ...SERIES.p95, values: points.map((point) => point.p95) },
    { ...SERIES.p99, values: points.map((point) => point.p99) },
  ];
}

function tokens(points: Point<"tokens">[]): Series[] {
  const input = points.map((point) => point.inputTokens);
  const output = points.map((point) => point.outputTokens);
  return [
    { ...SERIES.input, values: input, type: "bar", stack: "tokens" },
    { ...SERIES.output, values: output, type: "bar", stack: "tokens" },
  ];
}

function costs(points: { date: string; cost: number }[]): Series[] {
  return [
    {
      ...SERIES.cost,
      values: points.map((point) => point.cost),
      type: "bar",
    },
  ];
}

export function Charts({ overview }: { overview: Overview }) {
  const { granularity } = overview;
  const trend = { ...overview.costs, data: overview.costs.data?.trend } as UseQueryResult<
    { date: string; cost: number }[]
  >;
  return (
    <>
      <ChartPanel
        title="Requests by agent"
        unit={`traces, ${granularity}`}
        query={overview.requests}
        granularity={granularity}
        build={byAgent}
        filterOf={ofAgent}
        format={formatCompact}
      />
      <ChartPanel
        title="Latency"
        unit={<span title={PERCENTILE_NOTE}>percentiles</span>}
        query={overview.percentiles}
        granularity={granularity}
        build={latencies}
        format={formatDuration}
      />
      <ChartPanel
        title="Success and failure"
        unit={`traces, ${granularity}`}
        query={overview.errorRate}
        granularity={granularity}
        build={outcomes}
        filterOf={ofOutcome}
        format={formatCount}
      />
      <ChartPanel
        title="Error rate"
        unit="share of traces"
        query={overview.errorRate}
        granularity={granularity}
        build={errorRates}
        format={formatPercent}
        filterOf={() => ofStatus("error")}
      />
      <ChartPanel
        title="Tokens"
        unit={granularity}
        query={overview.tokens}
        granularity={granularity}
        build={tokens}
        format={formatCompact}
      />
      <ChartPanel
        title="Cost"
        unit={`USD, ${granularity}`}
        query={trend}
        granularity={granularity}
        build={costs}
        format={formatCost}
      />
    </>
  );
}
