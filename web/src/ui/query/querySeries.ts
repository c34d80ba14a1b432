/** Turns the rows of a query into the series of charts, one chart per unit. */
import {
  addsUp,
  byUnit,
  groupName,
  measureOf,
  type Query,
  type Result,
  type Row,
} from "@/lib/analyticsQuery";
import type { Span } from "@/lib/api";
import type { Part } from "@/lib/behind";
import { coloursOf } from "@/lib/colours";
import { formatCounted } from "@/lib/format";
import { measureSeries, statusColour } from "@/lib/series";
import { OTHER, type Series } from "@/ui/chart/series";
import { kindColour } from "../kinds";

/** More cannot be told apart. */
const MOST_SERIES = 10;

export interface UnitChart {
  unit: ReturnType<typeof measureOf>["unit"];
  label: string;
  series: Series[];
  /** What each series is drawn from, by its name. */
  parts: Map<string, Part>;
  /** Which groups are drawn, unless all are: "Top 10 of 13, the rest as “other”". */
  note: string | null;
}

export interface ChartData {
  dates: string[];
  charts: UnitChart[];
}

type Type = "line" | "area" | "bar";
/** A group with its rows by date. */
type Points = Map<string, Row>;

export function buildCharts(result: Result, query: Query, type: Type): ChartData {
  const groupBy = query.groupBy ?? [];
  const groups = new Map<string, Points>();
  const dates = new Set<string>();
  for (const row of result.rows) {
    const name = groupName(row, groupBy);
    const date = String(row.date);
    dates.add(date);
    const points: Points = groups.get(name) ?? new Map();
    groups.set(name, points.set(date, row));
  }
  const allDates = [...dates].toSorted();
  const charts = byUnit(query.measures).map(([unit, measures]) => {
    const isStacked = type === "bar" && addsUp(query, measures);
    const isGrouped = groupBy.length > 0;
    const filled = [...groups].filter(([, points]) => hasValues(points, measures, isGrouped));
    // Without a value at all, the names say what has none.
    const present = filled.length > 0 ? filled : [...groups];
    const most = Math.max(1, Math.floor(MOST_SERIES / measures.length));
    const hasOthers = result.total > groups.size;
    // A single remaining group takes the place that the others would.
    const count = present.length === most + 1 && !hasOthers ? present.length : most;
    const shown = present.slice(0, count);
    const drawn = shown.flatMap(([group, points]) =>
      measures.map((measure) => ({
        name: seriesName(group, measure, measures.length > 1),
        group,
        measure,
        row: points.values().next().value,
        values: allDates.map((date) => toNumber(points.get(date)?.[measure])),
      })),
    );
    const series = filled.length > 0 ? drawn.filter((one) => !isEmpty(one, isGrouped)) : drawn;
    const byName = coloursOf(
      groupBy.join(" "),
      series.map(({ name }) => name),
    );
    const parts = new Map<string, Part>(
      series.map(({ name, row, measure }) => [name, { row, measure }]),
    );
    const stack = isStacked && (series.length > 1 || hasOthers) ? { stack: "all" } : {};
    const coloured: Series[] = series.map(({ name, group, measure, values }, index) => ({
      name,
      values,
      colour: ownColour(name, group, groupBy, measure) ?? byName[index] ?? "var(--measure-1)",
      type,
      ...stack,
    }));
    const rest = present.slice(count).map(([, points]) => points);
    const others = isStacked ? sumOthers(rest, result.others, allDates, measures) : null;
    if (others) {
      const name = parts.has(OTHER) ? "other groups" : OTHER;
      coloured.push({ name, values: others, colour: "var(--series-other)", type, ...stack });
      parts.set(name, { except: shown.flatMap(([, points]) => [...points.values()].slice(0, 1)) });
    }
    return {
      unit,
      label: measures.map((one) => measureOf(one).label).join(", "),
      parts,
      series: coloured,
      note: describeShown(
        query,
        shown.length,
        present.length + result.total - groups.size,
        !!others,
      ),
    };
  });
  return { dates: allDates, charts };
}

/** "Top 10 of 13, the rest as “other”"; null if all groups are drawn. */
export function describeShown(
  { orderBy, measures }: Query,
  shown: number,
  total: number,
  hasOther: boolean,
): string | null {
  if (shown >= total) return null;
  const { field, order } = orderBy ?? { field: measures[0], order: "desc" };
  const isTop = order === "desc" && measures.some((one) => one === field);
  const rest = hasOther ? ", the rest as “other”" : "";
  return `${isTop ? "Top" : "First"} ${shown} of ${formatCounted(total, "group")}${rest}`;
}

interface Values {
  measure: string;
  values: (number | null)[];
}

/** A group without anything is not drawn; a rate of 0, or a sum of 0 of everything, is a value. */
function isEmpty({ measure, values }: Values, isGrouped: boolean): boolean {
  const isSum = isGrouped && measureOf(measure).isAdditive;
  return values.every((value) => value === null || (isSum && value === 0));
}

function hasValues(points: Points, measures: string[], isGrouped: boolean): boolean {
  return measures.some((measure) => {
    const values = [...points.values()].map((row) => toNumber(row[measure]));
    return !isEmpty({ measure, values }, isGrouped);
  });
}

/** The sum of the groups that are not drawn: those of the result, and those beyond its limit. */
function sumOthers(
  rest: Points[],
  others: readonly Row[],
  dates: string[],
  measures: string[],
): number[] | null {
  const beyond: Points = new Map(others.map((row) => [String(row.date), row]));
  const sums = dates.map((date) =>
    [...rest, beyond].reduce(
      (sum, points) =>
        measures.reduce((all, name) => all + (toNumber(points.get(date)?.[name]) ?? 0), sum),
      0,
    ),
  );
  return sums.some((sum) => sum !== 0) ? sums : null;
}

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
  const byName = coloursOf(groupBy[0] ?? "", names);
  return names.map((name, index) => ownColour(name, name, groupBy, "") ?? byName[index]);
}
