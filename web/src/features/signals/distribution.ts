/** How signals are aggregated over time, and how their distribution is labelled. */
import type { Granularity, Schemas } from "@/lib/api";
import { autoGranularity, type Range } from "@/lib/range";

const TWO_DAYS = 2 * 86_400_000;

/** Signals are rarer than traces, so hourly buckets would mostly be empty. */
export function signalGranularity(range: Range): Granularity {
  const isLong = range.to.getTime() - range.from.getTime() > TWO_DAYS;
  const usual = autoGranularity(range);
  return isLong && usual === "hourly" ? "daily" : usual;
}

type Bin = Schemas["SignalBin"];

/** The label of a bin: its value, or its bounds. */
export function binLabel({ start, end }: Bin): string {
  return start === end ? write(start) : `${write(start)} – ${write(end)}`;
}

function write(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}
