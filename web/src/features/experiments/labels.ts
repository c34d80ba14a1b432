/** Labels, formats and colours of experiments, metrics and verdicts. */
import type { Schemas } from "@/lib/api";
import {
  formatCompact,
  formatCost,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPoints,
} from "@/lib/format";
import type { Tone } from "@/ui/Badge";

export type Experiment = Schemas["Experiment"];
export type Results = Schemas["ExperimentResults"];
export type Metric = Experiment["metrics"][number];
export type MetricResult = Results["metrics"][number];
export type VariantResult = MetricResult["variants"][number];

export const STATUS_TONES: Record<Experiment["status"], Tone> = {
  draft: "neutral",
  running: "accent",
  paused: "warning",
  stopped: "info",
};

export const DECISIONS: Record<Results["verdict"]["decision"], { word: string; tone: Tone }> = {
  ship: { word: "Ship it", tone: "good" },
  keep_running: { word: "Keep running", tone: "info" },
  no_difference: { word: "No difference", tone: "neutral" },
  invalid: { word: "Invalid", tone: "bad" },
};

const TRACE_METRICS: Record<
  Schemas["TraceMetric"],
  { label: string; format: (value: number | null) => string }
> = {
  successRate: { label: "Success rate", format: formatPercent },
  latency: { label: "Latency", format: formatDuration },
  p95Latency: { label: "p95 latency", format: formatDuration },
  cost: { label: "Cost", format: formatCost },
  tokens: { label: "Tokens", format: formatCompact },
};
export const TRACE_METRIC_NAMES = Object.keys(TRACE_METRICS) as Schemas["TraceMetric"][];

export function metricLabel(metric: Pick<Metric, "metric" | "signalName"> | undefined): string {
  if (!metric) return "";
  return metric.metric ? TRACE_METRICS[metric.metric].label : (metric.signalName ?? "");
}

export function metricFormat(
  metric: Pick<Metric, "metric"> | undefined,
): (value: number | null) => string {
  return metric?.metric ? TRACE_METRICS[metric.metric].format : formatNumber;
}

/** +12.3% with a real minus sign; lifts are ratios. */
export function formatLift(lift: number | null | undefined): string {
  if (lift === null || lift === undefined) return "–";
  const percent = Math.abs(lift * 100);
  const shown = percent.toFixed(percent < 10 ? 1 : 0);
  if (Number(shown) === 0) return "±0%";
  return `${lift > 0 ? "+" : "−"}${shown}%`;
}

/**
 * The difference to the control in percentage points, for a rate: its lift is a percentage of a
 * percentage.
 */
export function pointsOf(
  known: Pick<Metric, "metric"> | undefined,
  metric: MetricResult,
  variant: VariantResult,
): string | null {
  const control = metric.variants[0]?.mean ?? null;
  if (metricFormat(known) !== formatPercent || control === null || variant.mean === null) {
    return null;
  }
  return formatPoints(variant.mean - control);
}

/** Good or bad only when the lift is significant. */
export function liftTone(metric: MetricResult, variant: VariantResult): "good" | "bad" | "neutral" {
  if (!variant.significant || variant.lift === null) return "neutral";
  return variant.lift > 0 === (metric.direction === "increase") ? "good" : "bad";
}
