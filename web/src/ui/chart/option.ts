/** From series to what ECharts draws; colours are resolved, because a canvas knows no variables. */
import type { EChartsCoreOption } from "echarts/core";
import type { Granularity } from "@/lib/api";
import { resolveColour } from "@/lib/colours";
import { formatCompact, formatCount } from "@/lib/format";
import { bucketEnd } from "@/lib/range";
import { axisLabel, type Level, type Series, type Stretch } from "./series";

export interface ChartInput {
  dates: string[];
  granularity: Granularity;
  series: Series[];
  format: (value: number) => string;
  levels?: Level[] | undefined;
  stretches?: Stretch[] | undefined;
  max?: number | undefined;
}

const UNFINISHED = 0.4;
const MANY_BARS = 60;

/** What these write is counted in whole numbers. */
const WHOLE = new Set<ChartInput["format"]>([formatCount, formatCompact]);

export function buildOption(input: ChartInput, width: number): EChartsCoreOption {
  const { dates, granularity, format } = input;
  const [line, muted] = [resolveColour("var(--line)"), resolveColour("var(--muted)")];
  const isRunning = lastIsRunning(dates, granularity);
  return {
    animation: false,
    grid: {
      left: 6,
      right: 6,
      top: 10,
      bottom: 2,
      outerBoundsMode: "same",
      outerBoundsContain: "axisLabel",
    },
    xAxis: {
      type: "category",
      data: dates,
      axisLine: { lineStyle: { color: line } },
      axisTick: { show: false },
      axisLabel: {
        color: muted,
        fontSize: 11,
        hideOverlap: true,
        interval: labelInterval(dates, granularity, width),
        formatter: (date: string) => axisLabel(date, granularity),
      },
    },
    yAxis: {
      type: "value",
      max: input.max,
      // There is no half a trace.
      ...(WHOLE.has(format) ? { minInterval: 1 } : {}),
      splitNumber: 3,
      axisLabel: {
        color: muted,
        fontSize: 11,
        formatter: (value: number) => shorten(format(value)),
      },
      splitLine: { lineStyle: { color: line } },
    },
    series: input.series.flatMap((one, index) => [
      ...drawSeries(one, isRunning),
      ...(index === 0 && (input.levels || input.stretches) ? [marks(input, muted)] : []),
    ]),
  };
}

/** An axis needs no zeros at the end: 40 s, not 40.0 s. */
function shorten(text: string): string {
  return text.replace(/\.0+(?=\s|$)/, "");
}

function lastIsRunning(dates: string[], granularity: Granularity): boolean {
  const last = dates.at(-1);
  return last !== undefined && bucketEnd(last, granularity) > Date.now();
}

/** Labels at round times: at midnight when hours fill days, else evenly. */
function labelInterval(dates: string[], granularity: Granularity, width: number) {
  const room = Math.max(2, Math.floor(width / 70));
  if (granularity === "hourly" && dates.length > 30) {
    const nights = dates.filter((date) => new Date(date).getHours() === 0).length;
    const every = Math.max(1, Math.ceil(nights / room));
    let seen = 0;
    const shown = new Set(
      dates.filter((date) => new Date(date).getHours() === 0 && seen++ % every === 0),
    );
    return (_index: number, date: string) => shown.has(date);
  }
  return Math.max(0, Math.ceil(dates.length / room) - 1);
}

function drawSeries(one: Series, isRunning: boolean): object[] {
  const colour = resolveColour(one.colour);
  if (one.type === "bar") return drawBars(one, colour, isRunning);
  const count = one.values.length;
  const base = {
    name: one.name,
    type: "line",
    stack: one.stack,
    symbol: "circle",
    symbolSize: 4,
    // A single point between two gaps would be invisible without its dot.
    showSymbol: false,
    showAllSymbol: false,
    lineStyle: { color: colour, width: 1.5, type: one.isDashed ? "dashed" : "solid" },
    itemStyle: { color: colour },
    areaStyle:
      one.type === "area" ? { color: colour, opacity: one.stack ? 0.75 : 0.14 } : undefined,
  };
  const isLonely = one.values.every(
    (value, i) =>
      value === null ||
      ((one.values[i - 1] ?? null) === null && (one.values[i + 1] ?? null) === null),
  );
  if (isLonely) return [{ ...base, showSymbol: true, data: one.values }];
  if (!isRunning || one.stack) return [{ ...base, data: one.values }];
  const running = [count - 2, count - 1].map((index) => [index, one.values[index] ?? null]);
  return [
    { ...base, data: one.values.map((value, index) => (index === count - 1 ? null : value)) },
    {
      ...base,
      data: running,
      areaStyle: undefined,
      lineStyle: { color: colour, width: 1.5, type: "dashed", opacity: UNFINISHED + 0.2 },
    },
  ];
}

function drawBars(one: Series, colour: string, isRunning: boolean): object[] {
  const last = one.values.length - 1;
  const areMany = last >= MANY_BARS;
  const base = {
    name: one.name,
    type: "bar",
    // The running bucket is a series of its own, and stands where the others do.
    stack: one.stack ?? one.name,
    barCategoryGap: areMany ? "4%" : "22%",
    barMaxWidth: 36,
    // As one path: with an object for each bar a chart took half as long again.
    large: areMany,
    largeThreshold: MANY_BARS,
    // All in one frame, however many.
    progressive: 0,
    itemStyle: { color: colour },
  };
  if (!isRunning) return [{ ...base, data: one.values }];
  return [
    { ...base, data: one.values.map((value, index) => (index === last ? null : value)) },
    {
      ...base,
      data: [[last, one.values[last] ?? null]],
      itemStyle: { color: colour, opacity: UNFINISHED },
    },
  ];
}

/** Levels and stretches belong to a series of their own that draws nothing else. */
function marks(input: ChartInput, muted: string): object {
  return {
    type: "line",
    silent: true,
    data: [],
    markLine: {
      silent: true,
      symbol: "none",
      data: (input.levels ?? []).map((level) => ({
        yAxis: level.value,
        lineStyle: { color: resolveColour(level.colour), type: "dashed", width: 1 },
        label: { formatter: level.label, position: "insideEndTop", color: muted, fontSize: 11 },
      })),
    },
    markArea: {
      silent: true,
      data: (input.stretches ?? []).map((stretch) => [
        {
          xAxis: indexAt(input, stretch.from),
          itemStyle: { color: resolveColour(stretch.colour), opacity: 0.12 },
        },
        { xAxis: indexAt(input, stretch.to) },
      ]),
    },
  };
}

function indexAt({ dates }: ChartInput, moment: string | number): number {
  const at = new Date(moment).getTime();
  const after = dates.findIndex((date) => new Date(date).getTime() > at);
  return after === -1 ? dates.length - 1 : Math.max(0, after - 1);
}
