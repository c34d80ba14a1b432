/** Turns the rows of a query into the series of charts, one chart per unit. */
import { groupName, measureOf, type Query, type Result } from "@/lib/analyticsQuery";
import type { Span } from "@/lib/api";
import type { Part } from "@/lib/behind";
import { coloursOf } from "@/lib/colours";
import { measureSeries, statusColour } from "@/lib/series";
import type { Series } from "@/ui/chart/series";
import { kindColour } from "../kinds";

/** More cannot be told apart. */
const MOST_SERIES = 10;
export interface UnitChart {
  unit: ReturnType<typeof measureOf>["unit"];
  label: string;
  series: Series[];
  /** What each series is drawn from, by its name. */
  parts: Map<string, Part>;
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
        row: points.values().next().value,
        values: allDates.map((date) => toNumber(points.get(date)?.[measure])),
      })),
    );
    const byName = coloursOf(series.map(({ name }) => name));
    return {
      unit,
      label: measures.map((one) => measureOf(one).label).join(", "),
      parts: new Map(series.map(({ name, row, measure }) => [name, { row, measure }])),
      series: series.map(({ name, group, measure, values }, index) => ({
        name,
        values,
        colour: ownColour(name, group, groupBy, measure) ?? byName[index] ?? "var(--accent)",
        ...drawnAs(type, measures, series.length),
      })),
    };
  });
  return { dates: allDates, charts, groups: result.total, shown: shown.length };
}

const sizes = (units: Map<string, string[]>) => [...units.values()].map((one) => one.length);

const toNumber = (value: unknown) => (typeof value === "number" ? value : null);

function seriesName(group: string, measure: string, hasSeveral: boolean): string {
  const name = measureSeries(measure)?.name ?? measureOf(measure).label;
  if (group === "") return name;
  return hasSeveral ? `${group} · ${name}` : group;
}

/** Measures, statuses and kinds have fixed colours; all other series have one by their name. */
function ownColour(
  name: string,
  group: string,
  groupBy: string[],
  measure: string,
): string | undefined {
  if (group === "") return measureSeries(measure)?.colour;
  if (groupBy.length > 1 || name !== group) return undefined;
  if (groupBy[0] === "status") return statusColour(group);
  return groupBy[0] === "kind" ? kindColour(group as Span["kind"]) : undefined;
}

/** Other groups, such as users, are too many for colours. */
const COLOURED = new Set(["agent", "model", "tool", "provider", "environment", "kind", "status"]);

/** The colour of each row's group, as in a chart over time. */
export function groupColours({ rows }: Result, groupBy: string[]): (string | undefined)[] {
  if (groupBy.length !== 1 || !COLOURED.has(groupBy[0] ?? "")) return [];
  const names = rows.map((row) => groupName(row, groupBy));
  const byName = coloursOf(names);
  return names.map((name, index) => ownColour(name, name, groupBy, "") ?? byName[index]);
}

/** Bars are stacked if their sum means something; others would hide each other and become lines. */
function drawnAs(type: Type, measures: string[], count: number): Pick<Series, "type" | "stack"> {
  if (type !== "bar" || count === 1) return { type };
  const isOne = measures.length === 1 && measureOf(measures[0] ?? "").isAdditive;
  const isTokens = measures.every((one) => one === "inputTokens" || one === "outputTokens");
  return isOne || isTokens ? { type: "bar", stack: "all" } : { type: "line" };
}
