/** One metric: its chart over time and its groups. */
import { useMemo } from "react";
import { coloursOf } from "@/lib/colours";
import { FilteredRowsContext } from "@/lib/filterFields";
import { formatCount } from "@/lib/format";
import { autoGranularity, useRange } from "@/lib/range";
import { useUrlState } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { BarList } from "@/ui/BarList";
import type { Series } from "@/ui/chart/series";
import { TimeChart } from "@/ui/chart/TimeChart";
import { Select } from "@/ui/Field";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { Panel } from "@/ui/Panel";
import { QueryResult } from "@/ui/states";
import { Time } from "@/ui/Time";
import {
  type Aggregation,
  displayOf,
  groupName,
  type Metric,
  type Result,
  unitOf,
  useMetric,
} from "./metricQueries";

const LABELS: Record<Aggregation, string> = {
  sum: "Sum",
  rate: "Rate per second",
  avg: "Average",
  min: "Minimum",
  max: "Maximum",
  last: "Last value",
  count: "Count",
  p50: "p50",
  p95: "p95",
  p99: "p99",
};
const SHOWN_SERIES = 6;
const CHART_HEIGHT = 300;

/** Counters are added up, gauges averaged, histograms shown by their 95th percentile. */
function defaultAggregation(metric: Metric): Aggregation {
  if (metric.type === "sum") return metric.isMonotonic ? "sum" : "last";
  if (metric.type === "gauge") return "avg";
  return metric.type === "summary" ? "avg" : "p95";
}

function useChoices(metric: Metric) {
  const byDefault = defaultAggregation(metric);
  const [wanted, setAggregation] = useUrlState<string>("agg", byDefault);
  const [first, setFirst] = useUrlState("by", "");
  const [second, setSecond] = useUrlState("by2", "");
  const aggregation = metric.aggregations.find((one) => one === wanted) ?? byDefault;
  const keys = [...new Set([...metric.attributeKeys, ...metric.resourceKeys])];
  const groupBy = [...new Set([first, second])].filter((key) => keys.includes(key));
  return { aggregation, setAggregation, keys, groupBy, first, setFirst, second, setSecond };
}

export function MetricDetail({ metric }: { metric: Metric }) {
  const choices = useChoices(metric);
  const { aggregation, groupBy } = choices;
  const granularity = autoGranularity(useRange());
  const query = useMetric({ name: metric.name, aggregation, groupBy, granularity });
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Controls metric={metric} choices={choices} />
      <Filters keys={choices.keys} />
      <Panel
        title={LABELS[aggregation]}
        unit={query.data && unitOf(query.data, aggregation)}
        actions={query.data?.isEstimate && <Estimate />}
      >
        <QueryResult query={query} height={CHART_HEIGHT + 32}>
          {(result) => (
            <Chart metric={metric} result={result} aggregation={aggregation} step={granularity} />
          )}
        </QueryResult>
      </Panel>
      {groupBy.length > 0 && query.data && (
        <Panel
          title={`By ${groupBy.join(" and ")}`}
          unit={
            query.data.truncated
              ? `the largest ${query.data.rows.length} of ${formatCount(query.data.total)}`
              : undefined
          }
        >
          <Groups result={query.data} aggregation={aggregation} />
        </Panel>
      )}
      <About metric={metric} />
    </div>
  );
}

function Filters({ keys }: { keys: readonly string[] }) {
  const rows = { fields: [], attributesOf: "data points", attributes: keys, values: {} };
  return (
    <FilteredRowsContext value={rows}>
      <div className="flex flex-wrap items-center gap-2">
        <UrlFilterButton />
        <UrlChips />
      </div>
    </FilteredRowsContext>
  );
}

function Estimate() {
  return (
    <span title="Interpolated within the buckets of a histogram, so the exact value is not known.">
      <Badge>Estimate</Badge>
    </span>
  );
}

function Controls({ metric, choices }: { metric: Metric; choices: ReturnType<typeof useChoices> }) {
  const none = { value: "", label: "Not grouped" };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <h2
        className="mr-auto min-w-0 max-w-full truncate font-mono text-sm max-xl:basis-full"
        title={metric.name}
      >
        {metric.name}
      </h2>
      <Select
        aria-label="Aggregation"
        value={choices.aggregation}
        onChange={choices.setAggregation}
        options={metric.aggregations.map((value) => ({ value, label: LABELS[value] }))}
      />
      <Select
        aria-label="Group by"
        value={choices.first}
        onChange={choices.setFirst}
        options={[none, ...choices.keys]}
      />
      {choices.first !== "" && (
        <Select
          aria-label="Then group by"
          value={choices.second}
          onChange={choices.setSecond}
          options={[{ value: "", label: "and by …" }, ...choices.keys]}
        />
      )}
    </div>
  );
}

interface ChartProps {
  metric: Metric;
  result: Result;
  aggregation: Aggregation;
  step: ReturnType<typeof autoGranularity>;
}

function Chart({ metric, result, aggregation, step }: ChartProps) {
  const isAdded = aggregation === "sum" || aggregation === "count";
  const { format, factor } = displayOf(result, aggregation);
  const dates = useMemo(() => result.rows[0]?.points?.map((one) => one.date) ?? [], [result]);
  const series = useMemo<Series[]>(() => {
    const colours = rowColours(result);
    return result.rows.slice(0, SHOWN_SERIES).map((row, index) => ({
      name: groupName(row.group, LABELS[aggregation]),
      colour: colours[index] ?? "",
      values: row.points?.map(({ value }) => (value === null ? null : value * factor)) ?? [],
      ...(isAdded ? { type: "bar" as const, stack: "all" } : {}),
    }));
  }, [result, aggregation, isAdded, factor]);
  if (dates.length === 0) {
    return <p className="py-16 text-center text-muted">No data points in this period</p>;
  }
  return (
    <TimeChart
      label={`${LABELS[aggregation]} of ${metric.name} over time`}
      dates={dates}
      granularity={step}
      series={series}
      format={format}
      height={CHART_HEIGHT}
      hasLegend={series.length > 1}
    />
  );
}

/** The groups that the chart does not show are grey. */
function rowColours({ rows }: Result): string[] {
  if (rows.length === 1) return ["var(--measure-1)"];
  const shown = coloursOf(
    Object.keys(rows[0]?.group ?? {}).join(" "),
    rows.slice(0, SHOWN_SERIES).map(({ group }) => groupName(group, "")),
  );
  return rows.map((_, index) => shown[index] ?? "var(--series-other)");
}

function Groups({ result, aggregation }: { result: Result; aggregation: Aggregation }) {
  const { format, factor } = displayOf(result, aggregation);
  const colours = rowColours(result);
  return (
    <BarList
      bars={result.rows.map((row, index) => {
        const name = groupName(row.group, "all");
        return {
          key: name,
          label: name,
          value: Math.max(row.value ?? 0, 0),
          shown: row.value === null ? "–" : format(row.value * factor),
          colour: colours[index],
        };
      })}
    />
  );
}

function About({ metric }: { metric: Metric }) {
  const facts = [
    metric.description,
    metric.serviceNames.length > 0 && `Sent by ${metric.serviceNames.join(", ")}`,
    metric.temporality && `${metric.temporality} temporality`,
  ].filter(Boolean);
  return (
    <p className="text-sm text-muted">
      {facts.join(" · ")}
      {facts.length > 0 && " · "}Last point <Time at={metric.lastSeenAt} />
    </p>
  );
}
