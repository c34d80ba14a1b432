/** The input of a time chart, and the labels of its buckets. */
import type { Granularity } from "@/lib/api";
import { coloursOf } from "@/lib/colours";
import { bucketEnd, isShorterThanDay } from "@/lib/range";
import { startOfDay, zonedFormat } from "@/lib/timeZone";

export interface Series {
  name: string;
  colour: string;
  values: (number | null)[];
  type?: "bar" | "line" | "area";
  /** Bars with the same stack name are drawn on top of each other. */
  stack?: string;
  isDashed?: boolean;
}

/** A horizontal line, such as a threshold. */
export interface Level {
  value: number;
  label: string;
  colour: string;
}

/** A marked period, such as an incident. */
export interface Period {
  from: string | number;
  to: string | number;
  colour: string;
}

export interface ChartInput {
  dates: string[];
  granularity: Granularity;
  series: Series[];
  format: (value: number) => string;
  levels?: Level[] | undefined;
  periods?: Period[] | undefined;
}

const formatHour = zonedFormat({ hour: "2-digit", minute: "2-digit" });
const formatDay = zonedFormat({ day: "numeric", month: "short" });
const utcDays = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const months = new Intl.DateTimeFormat("en-GB", {
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** Hours are shown in the chosen time zone; days, weeks and months are UTC, as the service groups them. */
export function axisLabel(date: string, granularity: Granularity): string {
  const at = new Date(date);
  if (isShorterThanDay(granularity)) {
    return at.getTime() === startOfDay(at.getTime()).getTime() ? formatDay(at) : formatHour(at);
  }
  return granularity === "monthly" ? months.format(at) : utcDays.format(at);
}

export function pointLabel(date: string, granularity: Granularity): string {
  const at = new Date(date);
  switch (granularity) {
    case "daily":
      return `${utcDays.format(at)} (UTC day)`;
    case "weekly":
      return `Week of ${utcDays.format(at)} (UTC)`;
    case "monthly":
      return `${months.format(at)} (UTC)`;
    default:
      return `${formatDay(at)}, ${formatHour(at)} – ${formatHour(bucketEnd(date, granularity))}`;
  }
}

/** The name of the series of all that are not among the largest. */
export const OTHER = "other";

/** The largest series by their sum; the rest is combined into "other". */
export function topSeries(dimension: string, points: Record<string, number>[], most = 5): Series[] {
  const sums = new Map<string, number>();
  for (const point of points) {
    for (const [name, value] of Object.entries(point)) {
      sums.set(name, (sums.get(name) ?? 0) + value);
    }
  }
  const names = [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  // A single remaining name takes the place that "other" would.
  const shown = names.length <= most + 1 ? names : names.slice(0, most);
  const colours = coloursOf(dimension, shown);
  const series = shown.map((name, index) => ({
    name,
    colour: colours[index] ?? "var(--series-other)",
    values: points.map((point) => point[name] ?? 0),
  }));
  const rest = names.slice(shown.length);
  if (rest.length > 0) {
    const sum = (point: Record<string, number>) =>
      rest.reduce((total, name) => total + (point[name] ?? 0), 0);
    series.push({ name: OTHER, colour: "var(--series-other)", values: points.map(sum) });
  }
  return series;
}
