/** Ticks of the value axis: round steps, and one unit for all labels of an axis. */
import {
  formatBytes,
  formatCompact,
  formatCount,
  formatDuration,
  formatNumber,
  trimZeros,
} from "@/lib/format";
import type { ChartInput } from "./series";

type Format = ChartInput["format"];

interface Unit {
  name: string;
  size: number;
  /** Distances between ticks that are round in this unit. */
  steps: number[];
}

/** 1, 2 and 5 times a power of ten. */
const decimals = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index).flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
  );
const DECIMALS = decimals(-9, 15);
const SIXTIETHS = [1, 2, 5, 10, 20, 30];
const BINARY = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** The units of the formats whose units are not powers of ten, the smallest first. */
const UNITS = new Map<Format, Unit[]>([
  [
    formatDuration,
    [
      { name: "ms", size: 1, steps: decimals(-6, 3) },
      { name: "s", size: 1000, steps: SIXTIETHS },
      { name: "min", size: 60_000, steps: SIXTIETHS },
      { name: "h", size: 3_600_000, steps: [1, 2, 3, 6, 12] },
      { name: "d", size: 86_400_000, steps: decimals(0, 6) },
    ],
  ],
  [
    formatBytes,
    [
      { name: "B", size: 1, steps: BINARY },
      { name: "kB", size: 2 ** 10, steps: BINARY },
      { name: "MB", size: 2 ** 20, steps: BINARY },
      { name: "GB", size: 2 ** 30, steps: decimals(0, 6) },
    ],
  ],
]);
/** These formats show counts, which have no ticks between whole numbers. */
const COUNT_FORMATS = new Set<Format>([formatCount, formatCompact]);

/** The distances between ticks that an axis may have. */
export function tickSteps(format: Format): number[] {
  const units = UNITS.get(format);
  if (units) return units.flatMap(({ size, steps }) => steps.map((step) => step * size));
  return COUNT_FORMATS.has(format) ? DECIMALS.filter((step) => step >= 1) : DECIMALS;
}

export function tickLabels(format: Format, ticks: number[], step: number): string[] {
  const unit = unitOf(UNITS.get(format) ?? [], ticks, step);
  if (!unit) return ticks.map((tick) => trimZeros(format(tick)));
  return ticks.map((tick) => (tick === 0 ? "0" : `${formatNumber(tick / unit.size)} ${unit.name}`));
}

/**
 * The largest unit in which all ticks are whole numbers; 0.5 s is shorter than 500 ms, but 0.4883 kB
 * is not shorter than 500 B.
 */
function unitOf(units: Unit[], ticks: number[], step: number): Unit | undefined {
  const [smallest, second] = units;
  const most = Math.max(...ticks.map(Math.abs));
  const whole = units.findLast(({ size }) => step % size === 0) ?? smallest;
  const isDecimal = second && second.size % 1000 === 0;
  return whole === smallest && isDecimal && most >= second.size ? second : whole;
}
