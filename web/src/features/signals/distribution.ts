/** How signals are aggregated: over time and by value. */
import type { Granularity } from "@/lib/api";
import { autoGranularity, type Range } from "@/lib/range";

const TWO_DAYS = 2 * 86_400_000;

/** Signals are rarer than traces, so hourly buckets would mostly be empty. */
export function signalGranularity(range: Range): Granularity {
  const isLong = range.to.getTime() - range.from.getTime() > TWO_DAYS;
  const usual = autoGranularity(range);
  return isLong && usual === "hourly" ? "daily" : usual;
}

export interface Bin {
  label: string;
  count: number;
}

const FEW = 8;
const STEPS = 10;

/** One bar per value when there are few distinct values, otherwise ten even bins. */
export function toBins(values: number[]): Bin[] {
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  if (distinct.length <= FEW) {
    return distinct.map((value) => ({
      label: write(value),
      count: values.filter((one) => one === value).length,
    }));
  }
  const [low, high] = [distinct[0] ?? 0, distinct.at(-1) ?? 0];
  const width = (high - low) / STEPS;
  const counts = new Array<number>(STEPS).fill(0);
  for (const value of values) {
    const step = Math.min(STEPS - 1, Math.floor((value - low) / width));
    counts[step] = (counts[step] ?? 0) + 1;
  }
  return counts.map((count, step) => ({
    label: `${write(low + step * width)} – ${write(low + (step + 1) * width)}`,
    count,
  }));
}

function write(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}
