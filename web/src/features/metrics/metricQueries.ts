/** The queries of the metrics page, and how their values are shown. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, type Granularity, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { useConditions } from "@/lib/conditions";
import { formatBytes, formatCompact, formatCost, formatDuration, formatNumber } from "@/lib/format";
import { rangeQuery, useRange } from "@/lib/range";

export type Metric = Schemas["MetricName"];
export type Aggregation = Schemas["Aggregation"];
export type Result = Schemas["MetricQueryResult"];

const MOST_NAMES = 1000;
export const MOST_GROUPS = 20;

export function useMetricNames() {
  const query = { ...rangeQuery(useRange()), limit: MOST_NAMES };
  return useQuery({
    queryKey: ["metrics", "names", query],
    queryFn: () => unwrapPage(api.GET("/api/metrics/names", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}

export interface Asked {
  name: string;
  aggregation: Aggregation;
  groupBy: string[];
  granularity: Granularity;
}

export function useMetric(asked: Asked) {
  const [filters] = useConditions();
  const body = { ...asked, ...rangeQuery(useRange()), filters, limit: MOST_GROUPS };
  return useQuery({
    queryKey: ["metrics", "query", body],
    queryFn: () => unwrap(api.POST("/api/metrics/query", { body })),
    placeholderData: keepPreviousData,
  });
}

const MILLISECONDS: Record<string, number> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000, min: 60_000 };

/** Shows values of a unit; times are multiplied to milliseconds, counts and rates have no unit. */
export function displayOf({ unit, type }: Result, aggregation: Aggregation) {
  const isHistogram = type === "histogram" || type === "exponentialHistogram";
  const asIs = (format: (value: number) => string) => ({ format, factor: 1 });
  if (aggregation === "count" || (isHistogram && aggregation === "rate"))
    return asIs(formatCompact);
  const factor = MILLISECONDS[unit];
  if (factor !== undefined && aggregation !== "rate") return { format: formatDuration, factor };
  if (unit === "By" && aggregation !== "rate") return asIs(formatBytes);
  return asIs(unit === "USD" ? formatCost : formatAny);
}

function formatAny(value: number): string {
  return Math.abs(value) >= 1000 ? formatCompact(value) : formatNumber(value);
}

export function unitOf(result: Result, aggregation: Aggregation): string {
  const isHistogram = result.type === "histogram" || result.type === "exponentialHistogram";
  if (aggregation === "count") return isHistogram ? "observations" : "data points";
  if (aggregation === "rate") return isHistogram ? "observations per second" : `${result.unit}/s`;
  // The axis chooses the unit of times.
  if (result.unit in MILLISECONDS) return "time";
  return result.unit.replace(/[{}]/g, "");
}

/** The name of a group in legends and lists. */
export function groupName(group: Record<string, string>, fallback: string): string {
  const values = Object.values(group);
  return values.length === 0 ? fallback : values.map((value) => value || "(none)").join(" · ");
}
