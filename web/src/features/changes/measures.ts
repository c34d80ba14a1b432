/** Names, formats and tones of the measures that are compared. */

import type { Schemas } from "@/lib/api";
import { fieldInfo } from "@/lib/conditions";
import {
  formatCompact,
  formatCost,
  formatCounted,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPoints,
} from "@/lib/format";
import type { IntervalTone, Scale } from "@/ui/IntervalBar";

export type Changes = Schemas["Changes"];
export type Change = Schemas["Change"];
export type Contributor = Schemas["Contributor"];
export type Verdict = Schemas["ChangeVerdict"];

interface Measure {
  label: string;
  format: (value: number) => string;
  samples: string;
}

const SIGNAL = "signal:";
/** The width of a label and its distance to an edge, as shares of the narrowest column. */
const LABEL_SHARE = 0.38;
const EDGE_SHARE = 0.1;
const MEASURES: Record<string, Measure> = {
  tracesPerDay: { label: "Traces per day", format: formatCompact, samples: "trace" },
  errorRate: { label: "Error rate", format: formatPercent, samples: "trace" },
  p50: { label: "p50 latency", format: formatDuration, samples: "trace" },
  p95: { label: "p95 latency", format: formatDuration, samples: "trace" },
  avgLatency: { label: "Mean latency", format: formatDuration, samples: "trace" },
  costPerTrace: { label: "Cost per trace", format: formatCost, samples: "trace" },
  tokensPerTrace: { label: "Tokens per trace", format: formatCompact, samples: "trace" },
  toolErrorRate: { label: "Tool error rate", format: formatPercent, samples: "tool call" },
  share: { label: "Share of traces", format: formatPercent, samples: "trace" },
};

export function measureInfo(name: string): Measure {
  const label = name.startsWith(SIGNAL) ? `${name.slice(SIGNAL.length)} (mean)` : name;
  return MEASURES[name] ?? { label, format: formatNumber, samples: "signal" };
}

export function formatValue(name: string, value: number | null): string {
  return value === null ? "–" : measureInfo(name).format(value);
}

/** With a sign: +120 ms, −0.50 pts. */
export function formatDifference(name: string, value: number | null): string {
  if (value === null) return "–";
  if (measureInfo(name).format === formatPercent) return formatPoints(value);
  const sign = value > 0 ? "+" : value < 0 ? "−" : "±";
  return sign + measureInfo(name).format(Math.abs(value));
}

export function formatSamples({ measure, baselineSamples, candidateSamples }: Change): string {
  const { samples } = measureInfo(measure);
  return `${formatCounted(baselineSamples, samples)} and ${formatCounted(candidateSamples, samples)}`;
}

export const VERDICTS: Record<Verdict, string> = {
  better: "Better",
  worse: "Worse",
  higher: "Higher",
  lower: "Lower",
  unclear: "Unclear",
  tooFew: "Too few samples",
};

export function toneOf(verdict: Verdict): IntervalTone {
  return verdict === "better" ? "good" : verdict === "worse" ? "bad" : "neutral";
}

const ERRORS = "errorType";

/** What a contributor measures: "Cost per trace of zz-large", "Traces that failed with timeout". */
export function contributorLabel({ dimension, value, measure }: Contributor): string {
  const { label } = measureInfo(measure);
  if (dimension === ERRORS) return `Traces that failed with ${errorWords(value)}`;
  const of = measure === "share" ? "Share of traces with" : `${label} with`;
  return `${of} ${fieldInfo(dimension).label.toLowerCase()} ${value}`;
}

/** What the figures of a contributor are: shares and means are over different traces. */
export function contributorBasis({ dimension, measure }: Contributor): string {
  if (measure === "share" || dimension === ERRORS) return "Share of all traces, in %";
  if (measure === "costPerTrace") {
    // The cost of a model is only a part of what its traces cost.
    return dimension === "model" ? "Mean over all traces, in $" : "Mean over these traces, in $";
  }
  if (measure === "toolErrorRate") return "Share of the tool's calls, in %";
  return measure === "errorRate" ? "Share of these traces, in %" : "Mean over these traces";
}

function errorWords(type: string): string {
  if (type === "") return "an unknown error";
  return type === "other" ? "another type of error" : type.replace("_", " ");
}

/** Better first would hide problems, so the list of words begins with what got worse. */
export function summarize(measures: readonly Change[]): string {
  const named = (verdict: Verdict) =>
    measures.filter((one) => one.verdict === verdict).map((one) => measureInfo(one.measure).label);
  const parts = (["worse", "better"] as const).flatMap((verdict) => {
    const names = named(verdict);
    return names.length > 0 ? [`${VERDICTS[verdict]}: ${names.join(", ")}`] : [];
  });
  return parts.length > 0 ? `${parts.join(". ")}.` : "No statistically significant change.";
}

/** The ticks with a label: zero, and those far enough from it, each other and the ends. */
export function labelledTicks({ low, high }: Scale, ticks: readonly number[]): number[] {
  const width = high - low;
  const kept: number[] = ticks.filter((tick) => tick === 0);
  for (const tick of ticks.toSorted((a, b) => Math.abs(a) - Math.abs(b))) {
    const hasRoom = kept.every((one) => Math.abs(one - tick) >= LABEL_SHARE * width);
    const isInside = Math.min(tick - low, high - tick) >= EDGE_SHARE * width;
    if (hasRoom && isInside) kept.push(tick);
  }
  return kept.toSorted((a, b) => a - b);
}
