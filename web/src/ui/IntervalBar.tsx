/** Intervals on one scale: a bar from the lower to the upper bound, a dot, and zero as a line. */
import type { ReactNode } from "react";
import { cx } from "./cx";

const COLOURS = { good: "var(--good)", bad: "var(--bad)", neutral: "var(--muted)" };
export type IntervalTone = keyof typeof COLOURS;

export interface Bounds {
  lower: number;
  upper: number;
}

export interface Scale {
  low: number;
  high: number;
  at: (value: number) => string;
}

/** A scale for relative changes that holds zero and all intervals, at most from −150 % to 300 %. */
export function makeScale(intervals: readonly Bounds[]): Scale {
  const ends = intervals.flatMap(({ lower, upper }) => [lower, upper]);
  const [least, most] = [Math.min(-0.05, ...ends), Math.max(0.05, ...ends)];
  const pad = (most - least) * 0.06;
  const [low, high] = [Math.max(least - pad, -1.5), Math.min(most + pad, 3)];
  const at = (value: number) => {
    const share = (Math.min(Math.max(value, low), high) - low) / (high - low);
    return `${(share * 100).toFixed(2)}%`;
  };
  return { low, high, at };
}

export function ticksOf({ low, high }: Scale, most = 7): number[] {
  const rough = (high - low) / most;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((one) => one >= rough) ?? size;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

interface Props {
  value: number | null;
  interval: Bounds | null;
  tone: IntervalTone;
  scale: Scale;
  ticks: readonly number[];
  /** Shown instead of an interval that is not known. */
  note: ReactNode;
}

export function IntervalBar({ value, interval, tone, scale, ticks, note }: Props) {
  const colour = COLOURS[tone];
  return (
    <span className="relative block h-9">
      {ticks.map((tick) => (
        <span
          key={tick}
          aria-hidden
          className={cx("absolute inset-y-0 w-px", tick === 0 ? "bg-fg opacity-60" : "bg-line")}
          style={{ left: scale.at(tick) }}
        />
      ))}
      {interval && value !== null ? (
        <>
          <span
            className="absolute top-1/2 h-2.5 -translate-y-1/2 rounded-full opacity-35"
            style={{
              left: scale.at(interval.lower),
              right: `calc(100% - ${scale.at(interval.upper)})`,
              background: colour,
              minWidth: 3,
            }}
          />
          <span
            className="absolute top-1/2 size-2.5 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-surface"
            style={{ left: scale.at(value), background: colour, boxSizing: "content-box" }}
          />
        </>
      ) : (
        <span className="absolute inset-0 flex items-center justify-center text-sm text-muted">
          <span className="truncate bg-surface px-2">{note}</span>
        </span>
      )}
    </span>
  );
}
