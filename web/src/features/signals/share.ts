/** Signals whose values are all 0 or 1, such as thumbs: they have a share, and no other statistics. */
import type { Schemas } from "@/lib/api";
import { formatCount, formatNumber, formatPercent } from "@/lib/format";

type Summary = Schemas["SignalSummary"];

const ROUNDING = 1e-9;

/**
 * Whether all values are 0 or 1. Of values between 0 and 1, only these have a variance as large as
 * mean × (1 − mean).
 */
export function isShare({ min, max, avg, stddev }: Summary): boolean {
  return min >= 0 && max <= 1 && Math.abs(stddev ** 2 - avg * (1 - avg)) < ROUNDING;
}

/** "85.7% positive", or "mean 4.2" */
export function describeMean(summary: Summary): string {
  return isShare(summary)
    ? `${formatPercent(summary.avg)} positive`
    : `mean ${formatNumber(summary.avg)}`;
}

/** The names and values that sum a signal up. */
export function factsOf(summary: Summary): [name: string, value: string][] {
  const { count, avg, sum, p50, p95, stddev, min, max } = summary;
  if (isShare(summary)) {
    return [
      ["Signals", formatCount(count)],
      ["Share of positive", formatPercent(avg)],
      ["Positive", formatCount(sum)],
      ["Negative", formatCount(count - sum)],
    ];
  }
  return [
    ["Signals", formatCount(count)],
    ["Mean", formatNumber(avg)],
    ["Median", formatNumber(p50)],
    ["p95", formatNumber(p95)],
    ["Std. deviation", formatNumber(stddev)],
    ["Range", `${formatNumber(min)} – ${formatNumber(max)}`],
  ];
}

/** A single value of a signal. */
export function formatValue(value: number, isOfShare: boolean): string {
  if (!isOfShare) return formatNumber(value);
  return value === 1 ? "positive" : "negative";
}
