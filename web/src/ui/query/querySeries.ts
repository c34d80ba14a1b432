/** Turns the rows of a query into the series of charts, one chart per unit. */
import { groupName, measureOf, type Query, type Result } from "@/lib/analyticsQuery";
import { colourOf } from "@/lib/colours";
import { measureColour, statusColour } from "@/lib/series";
import type { Series } from "@/ui/chart/series";

/** As many as there are colours. */
export const MOST_SERIES = 10;
/** Names of these have one colour on all pages. */
const COLOURED = new Set(["agent", "model"]);
export interface UnitChart {
  unit: ReturnType<typeof measureOf>["unit"];
  label: string;
  series: Series[];
}

export interface ChartData {
  dates: string[];
  charts: UnitChart[];
  /** How many groups there are, and how many the charts show. */
  groups: number;
  shown: number;
}

type Type = "line" | "area" | "bar";

export function buildCharts(result: Result, query: Query, type: Type): ChartData {
  const groupBy = query.groupBy ?? [];
  const groups = new Map<string, Map<string, Result["rows"][number]>>();
  const dates = new Set<string>();
  for (const row of result.rows) {
    const name = groupName(row, groupBy);
    const date = String(row.date);
    dates.add(date);
    const points = groups.get(name) ?? new Map();
    groups.set(name, points.set(date, row));
  }
  const units = new Map<UnitChart["unit"], string[]>();
  for (const measure of query.measures) {
    const { unit } = measureOf(measure);
    units.set(unit, [...(units.get(unit) ?? []), measure]);
  }
  const allDates = [...dates].toSorted();
  const most = Math.max(1, Math.floor(MOST_SERIES / Math.max(...sizes(units))));
  const shown = [...groups].slice(0, most);
  const charts = [...units].map(([unit, measures]) => {
    const series = shown.flatMap(([group, points]) =>
      measures.map((measure) => ({
        name: seriesName(group, measure, measures.length > 1),
        group,
        measure,
        values: allDates.map((date) => toNumber(points.get(date)?.[measure])),
      })),
    );
    return {
      unit,
      label: measures.map((one) => measureOf(one).label).join(", "),
      series: series.map(({ name, group, measure, values }, index) => ({
        name,
        values,
        colour: seriesColour(group, groupBy, index, series.length, measure),
        ...drawnAs(type, measures, series.length),
      })),
    };
  });
  return { dates: allDates, charts, groups: result.total, shown: shown.length };
}

const sizes = (units: Map<string, string[]>) => [...units.values()].map((one) => one.length);

const toNumber = (value: unknown) => (typeof value === "number" ? value : null);

function seriesName(group: string, measure: string, hasSeveral: boolean): string {
  const { label } = measureOf(measure);
  if (group === "") return label;
  return hasSeveral ? `${group} · ${label}` : group;
}

function seriesColour(
  group: string,
  groupBy: string[],
  index: number,
  count: number,
  measure: string,
): string {
  if (group === "")
    return measureColour(measure) ?? (count === 1 ? "var(--accent)" : byIndex(index));
  if (count === 1) return measureColour(measure) ?? "var(--accent)";
  if (groupBy.length === 1 && COLOURED.has(groupBy[0] ?? "")) return colourOf(group);
  return (groupBy[0] === "status" && statusColour(group)) || byIndex(index);
}

const byIndex = (index: number) => `var(--series-${index % MOST_SERIES})`;

/** Bars are stacked if their sum means something; others would hide each other and become lines. */
function drawnAs(type: Type, measures: string[], count: number): Pick<Series, "type" | "stack"> {
  if (type !== "bar" || count === 1) return { type };
  const isOne = measures.length === 1 && measureOf(measures[0] ?? "").isAdditive;
  const isTokens = measures.every((one) => one === "inputTokens" || one === "outputTokens");
  return isOne || isTokens ? { type: "bar", stack: "all" } : { type: "line" };
}
