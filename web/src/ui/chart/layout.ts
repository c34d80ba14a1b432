/** Where everything of a chart over time stands. It knows no canvas, only how wide a text is. */
import type { Granularity } from "@/lib/api";
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
}

/** A series with what each of its points stands on: 0, or those below it in its stack. */
export interface Layer extends Series {
  bases: number[];
  tops: (number | null)[];
}

export interface Layout {
  width: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** The width of a bucket. */
  band: number;
  xOf: (index: number) => number;
  yOf: (value: number) => number;
  indexAt: (x: number) => number;
  xLabels: { x: number; text: string }[];
  yLabels: { y: number; text: string }[];
  layers: Layer[];
  /** The first and last bucket of each stretch. */
  stretches: { first: number; last: number; colour: string }[];
  /** The last bucket is not over yet. */
  isRunning: boolean;
}

const MARGIN = 6;
const ABOVE = 10;
const BELOW = 22;
const LABEL_GAP = 8;
const STEPS = 3;
const LABEL_PX = 70;

/** What these write is counted in whole numbers. */
const WHOLE = new Set<ChartInput["format"]>([formatCount, formatCompact]);

export function layOut(
  input: ChartInput,
  width: number,
  height: number,
  measure: (text: string) => number,
): Layout {
  const { dates, granularity } = input;
  const layers = stack(input.series);
  const ticks = findTicks(input, layers);
  const texts = ticks.map((value) => shorten(input.format(value)));
  const [top, bottom] = [ABOVE, height - BELOW];
  const left = MARGIN + Math.max(...texts.map(measure)) + LABEL_GAP;
  const right = width - MARGIN;
  const band = (right - left) / Math.max(1, dates.length);
  const [least, most] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const xOf = (index: number) => left + (index + 0.5) * band;
  const yOf = (value: number) => bottom - ((value - least) / (most - least)) * (bottom - top);
  const isShown = labelled(dates, granularity, right - left);
  return {
    width,
    left,
    right,
    top,
    bottom,
    band,
    xOf,
    yOf,
    indexAt: (x) => Math.max(0, Math.min(dates.length - 1, Math.floor((x - left) / band))),
    xLabels: withoutOverlap(
      dates.flatMap((date, index) =>
        isShown(index) ? [{ x: xOf(index), text: axisLabel(date, granularity) }] : [],
      ),
      measure,
      width,
    ),
    yLabels: ticks.map((value, index) => ({ y: yOf(value), text: texts[index] ?? "" })),
    layers,
    stretches: (input.stretches ?? []).map(({ from, to, colour }) => ({
      first: bucketAt(dates, from),
      last: bucketAt(dates, to),
      colour,
    })),
    isRunning: lastIsRunning(dates, granularity),
  };
}

function stack(series: Series[]): Layer[] {
  const heights = new Map<string, number[]>();
  return series.map((one) => {
    const below = one.stack ? heights.get(one.stack) : undefined;
    const bases = one.values.map((_, index) => below?.[index] ?? 0);
    const tops = one.values.map((value, index) =>
      value === null ? null : value + (bases[index] ?? 0),
    );
    if (one.stack) {
      heights.set(
        one.stack,
        tops.map((value, index) => value ?? bases[index] ?? 0),
      );
    }
    return { ...one, bases, tops };
  });
}

/** Round values from the least to the most that is shown, 0 among them. */
function findTicks(input: ChartInput, layers: Layer[]): number[] {
  const levels = (input.levels ?? []).map((level) => level.value);
  const shown = layers.flatMap((layer) => layer.tops.filter((value) => value !== null));
  let [least, most] = [0, 0];
  for (const value of [...shown, ...levels]) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (least === most) most = 1;
  const rough = roundStep((most - least) / STEPS);
  const step = WHOLE.has(input.format) ? Math.max(1, rough) : rough;
  const [first, last] = [Math.floor(exact(least / step)), Math.ceil(exact(most / step))];
  return Array.from({ length: last - first + 1 }, (_, n) => exact((first + n) * step));
}

/** 0.3, not 0.30000000000000004. */
function exact(value: number): number {
  return Number(value.toPrecision(12));
}

/** 1, 2 or 5 of a power of ten, whichever is nearest. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const part = step / power;
  if (part < Math.SQRT2) return power;
  if (part < Math.sqrt(10)) return 2 * power;
  return (part < Math.sqrt(50) ? 5 : 10) * power;
}

/** An axis needs no zeros at the end: 40 s, not 40.0 s. */
function shorten(text: string): string {
  return text.replace(/\.0+(?=\s|$)/, "");
}

/** Labels at round times: at midnight when hours fill days, else evenly. */
function labelled(dates: string[], granularity: Granularity, width: number) {
  const room = Math.max(2, Math.floor(width / LABEL_PX));
  const isNight = (date: string) => new Date(date).getHours() === 0;
  const candidates = dates.flatMap((date, index) =>
    granularity !== "hourly" || dates.length <= 30 || isNight(date) ? [index] : [],
  );
  const every = Math.max(1, Math.ceil(candidates.length / room));
  const shown = new Set(candidates.filter((_, place) => place % every === 0));
  return (index: number) => shown.has(index);
}

function withoutOverlap(
  labels: { x: number; text: string }[],
  measure: (text: string) => number,
  width: number,
) {
  let end = 0;
  return labels.filter(({ x, text }) => {
    const half = measure(text) / 2;
    if (x - half < end || x + half > width) return false;
    end = x + half + LABEL_GAP;
    return true;
  });
}

function bucketAt(dates: string[], moment: string | number): number {
  const at = new Date(moment).getTime();
  const after = dates.findIndex((date) => new Date(date).getTime() > at);
  return after === -1 ? dates.length - 1 : Math.max(0, after - 1);
}

export function lastIsRunning(dates: string[], granularity: Granularity): boolean {
  const last = dates.at(-1);
  return last !== undefined && bucketEnd(last, granularity) > Date.now();
}
