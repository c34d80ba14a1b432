/** The spans of a grouping over time. */
import { useMemo } from "react";
import { groupValue } from "@/lib/analyticsQuery";
import type { Span } from "@/lib/api";
import { coloursOf } from "@/lib/colours";
import { type Condition, useConditions } from "@/lib/conditions";
import { type Group, numberOf, pageConditions, useGroups } from "@/lib/groups";
import { autoGranularity, useRange } from "@/lib/range";
import { SERIES, type SeriesStyle } from "@/lib/series";
import { useUrl } from "@/lib/url";
import { OTHER, type Series } from "@/ui/chart/series";
import { LEGEND_HEIGHT, TimeChart } from "@/ui/chart/TimeChart";
import { kindColour } from "@/ui/kinds";
import { QueryResult } from "@/ui/states";
import type { Chart, Grouping } from "./groupings";

const HEIGHT = 130;
const MOST = 6;

/** The filters of the page beside those of a grouping. */
export function useSpanConditions(own: Condition[]): Condition[] {
  const [conditions] = useConditions();
  return [...own, ...conditions, ...pageConditions(useUrl())];
}

export function SpanChart({ grouping }: { grouping: Grouping }) {
  const { chart, groupBy } = grouping;
  const granularity = autoGranularity(useRange());
  const [field = ""] = groupBy;
  const query = useGroups({
    of: "spans",
    measures: chart.measures,
    groupBy: chart.isByGroup ? [field] : [],
    filters: useSpanConditions(grouping.filters),
    granularity,
    limit: MOST,
  });
  const drawn = useMemo(() => {
    const rows = query.data?.rows ?? [];
    const dates = [...new Set(rows.map((row) => String(row.date)))].sort();
    if (!chart.isByGroup) return { dates, series: tokenSeries(rows) };
    const rest = otherSeries(query.data?.others ?? [], dates, chart);
    return { dates, series: [...groupSeries(rows, field, chart), ...rest] };
  }, [query.data, field, chart]);
  // The page says below that there is nothing.
  if (query.data?.rows.length === 0) return null;
  return (
    <section aria-label={chart.title} className="border-b px-4 pt-2 pb-1 max-md:hidden">
      <h2 className="font-medium">{chart.title}</h2>
      <QueryResult query={query} height={HEIGHT + LEGEND_HEIGHT}>
        {() => (
          <TimeChart
            {...drawn}
            label={`${chart.title} over time`}
            granularity={granularity}
            format={chart.format}
            height={HEIGHT}
          />
        )}
      </QueryResult>
    </section>
  );
}

/** One series per group. */
function groupSeries(rows: Group[], field: string, { measures, type }: Chart): Series[] {
  const [measure = ""] = measures;
  const names = [...new Set(rows.map((row) => groupValue(row[field])))];
  const colours = coloursOf(field, names);
  return names.map((name, index) => ({
    name,
    type,
    ...(type === "bar" && { stack: "all" }),
    colour: field === "kind" ? kindColour(name as Span["kind"]) : (colours[index] ?? ""),
    values: rows
      .filter((row) => groupValue(row[field]) === name)
      .sort((a, b) => String(a.date).localeCompare(String(b.date)))
      .map((row) => numberOf(row, measure)),
  }));
}

/** What the groups beyond the first add to a stack, so that its height is the total. */
function otherSeries(rows: Group[], dates: string[], { measures, type }: Chart): Series[] {
  const [measure = ""] = measures;
  if (type !== "bar" || !rows.some((row) => numberOf(row, measure))) return [];
  const byDate = new Map(rows.map((row) => [String(row.date), numberOf(row, measure)]));
  const values = dates.map((date) => byDate.get(date) ?? 0);
  return [{ name: OTHER, type, stack: "all", colour: "var(--series-other)", values }];
}

/**
 * Tokens that were read from the cache or written to it are part of the input, and reasoning is part
 * of the output, so the rest of both is a class of its own.
 */
function tokenSeries(rows: Group[]): Series[] {
  const sorted = [...rows].sort((a, b) => String(a.date).localeCompare(String(b.date)));
  const of = (row: Group, measure: string) => numberOf(row, measure) ?? 0;
  const rest = (row: Group, whole: string, parts: string[]) =>
    Math.max(
      0,
      parts.reduce((left, part) => left - of(row, part), of(row, whole)),
    );
  const classes: [SeriesStyle, (row: Group) => number][] = [
    [SERIES.input, (row) => rest(row, "inputTokens", ["cachedTokens", "cacheWriteTokens"])],
    [SERIES.cachedInput, (row) => of(row, "cachedTokens")],
    [SERIES.cacheWrites, (row) => of(row, "cacheWriteTokens")],
    [SERIES.output, (row) => rest(row, "outputTokens", ["reasoningTokens"])],
    [SERIES.reasoning, (row) => of(row, "reasoningTokens")],
  ];
  return classes.map(([style, value]) => ({
    ...style,
    type: "bar",
    stack: "all",
    values: sorted.map(value),
  }));
}
