/** Names, formats and tones of the measures that are compared. */

import type { Schemas } from "@/lib/api";
import { fieldInfo } from "@/lib/filterFields";
import {
  formatCompact,
  formatCost,
  formatCount,
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
type Unit = Changes["of"];

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
  costPerCall: { label: "Cost per call", format: formatCost, samples: "call" },
  tokensPerTrace: { label: "Tokens per trace", format: formatCompact, samples: "trace" },
  tokensPerCall: { label: "Tokens per call", format: formatCompact, samples: "call" },
  timePerTrace: { label: "Time per trace", format: formatDuration, samples: "trace" },
  callsPerTrace: { label: "Calls per trace", format: formatCompact, samples: "trace" },
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

export function formatSamples(of: Unit, change: Change): string {
  const { measure, baselineSamples, candidateSamples } = change;
  const named = measureInfo(measure).samples;
  const samples = named === "trace" ? UNITS[of] : named;
  return `${formatCounted(baselineSamples, samples)} and ${formatCounted(candidateSamples, samples)}`;
}

export const VERDICTS: Record<Verdict, string> = {
  better: "Better",
  worse: "Worse",
  higher: "Higher",
  lower: "Lower",
  unclear: "Unclear",
  tooFew: "Too few samples",
  noData: "No data",
  unpriced: "Price unknown",
  incomparable: "No verdict",
};

const UNITS: Record<Unit, string> = { traces: "trace", spans: "call" };
/** Observations that a verdict needs on both sides. */
const NEEDED = 30;
const SIDES = ["baseline", "candidate"] as const;

/** Why a change has no relative interval. */
export function noteOf(change: Change): string {
  const observations = [change.baselineObservations, change.candidateObservations];
  const empty = SIDES.filter((_, index) => observations[index] === 0);
  const least = Math.min(...observations);
  if (change.verdict === "unpriced") return "Usage without a price";
  if (empty.length > 0)
    return empty.length === 2 ? "No data on either side" : `No data in the ${empty[0]}`;
  if (least < NEEDED) return `${formatCount(least)} of ${NEEDED} sessions`;
  if (change.verdict === "tooFew") return "Too few sessions for a percentile";
  if (!change.interval) return change.difference === 0 ? "No difference" : "Not compared";
  return change.baseline === 0
    ? "The baseline is 0, so no relative change"
    : "The baseline is too uncertain";
}

export function toneOf(verdict: Verdict): IntervalTone {
  return verdict === "better" ? "good" : verdict === "worse" ? "bad" : "neutral";
}

const ERRORS = "errorType";

/** What a contributor measures: "Cost per trace of zz-large", "Traces that failed with timeout". */
export function contributorLabel(of: Unit, contributor: Contributor): string {
  const { dimension, value, measure } = contributor;
  const { label } = measureInfo(measure);
  if (measure === "timePerTrace") return `Time in ${partName(dimension, value)}`;
  if (measure === "callsPerTrace") return `Calls of ${partName(dimension, value)}`;
  if (dimension === ERRORS)
    return `${of === "spans" ? "Calls" : "Traces"} that failed with ${errorWords(value)}`;
  const what = measure === "share" ? `Share of ${UNITS[of]}s with` : `${label} with`;
  return `${what} ${fieldInfo(dimension).label.toLowerCase()} ${value}`;
}

function partName(dimension: string, value: string): string {
  return dimension === "step"
    ? `step ${value}`
    : `${fieldInfo(dimension).label.toLowerCase()} ${value}`;
}

/** What the figures of a contributor are: shares and means are over different traces or calls. */
export function contributorBasis(of: Unit, contributor: Contributor): string {
  const { dimension, measure, explains, explained } = contributor;
  if (explains && explained) {
    const share = explained >= 1 ? "all" : formatPercent(explained);
    return `Explains ${share} of the change in ${measureInfo(explains).label.toLowerCase()}`;
  }
  if (of === "spans") return basisOfCalls(dimension, measure);
  if (PER_TRACE.includes(measure)) return "Mean over all traces";
  if (measure === "share" || dimension === ERRORS) return "Share of all traces, in %";
  if (measure === "costPerTrace") {
    // The cost of a model is only a part of what its traces cost.
    return dimension === "model" ? "Mean over all traces, in $" : "Mean over these traces, in $";
  }
  if (measure === "toolErrorRate") return "Share of the tool's calls, in %";
  return measure === "errorRate" ? "Share of these traces, in %" : "Mean over these traces";
}

const PER_TRACE = ["timePerTrace", "callsPerTrace"];

function basisOfCalls(dimension: string, measure: string): string {
  if (measure === "share" || dimension === ERRORS) return "Share of all calls, in %";
  if (measure === "costPerCall") return "Mean over these calls, in $";
  return measure === "errorRate" ? "Share of these calls, in %" : "Mean over these calls";
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
  if (parts.length > 0) return `${parts.join(". ")}.`;
  const isTooFew = measures.every(({ verdict }) => UNDECIDED.includes(verdict));
  return isTooFew ? "Too few sessions for a verdict." : "No statistically significant change.";
}

const UNDECIDED: readonly Verdict[] = ["tooFew", "noData", "unpriced"];

/** What explains most of the change, in a sentence; null if nothing does. */
export function headline(contributors: readonly Contributor[]): string | null {
  const [first] = contributors;
  return first?.explains ? sentenceOf(first) : null;
}

function sentenceOf(cause: Contributor): string {
  const { dimension, value, measure } = cause;
  const [before, now] = [cause.baseline ?? 0, cause.candidate ?? 0];
  const instead = (from: number, to: number) =>
    `${formatValue(measure, to)} instead of ${formatValue(measure, from)}`;
  if (dimension === ERRORS)
    return `${formatPercent(now)} of traces fail with ${errorWords(value)} instead of ${formatPercent(before)}`;
  if (measure !== "timePerTrace") return `${value} costs ${instead(before, now)} per trace`;
  const [callsBefore, callsNow] = [cause.baselineCalls ?? 0, cause.candidateCalls ?? 0];
  if (callsBefore === 0) return `${value} is new and takes ${formatValue(measure, now)} per trace`;
  if (callsNow === 0)
    return `${value}, which took ${formatValue(measure, before)} per trace, is gone`;
  const [each, eachBefore] = [now / callsNow, before / callsBefore];
  // Time per trace is calls times time per call: the one that changed more is the reason.
  const isCalledMore =
    Math.abs(Math.log(callsNow / callsBefore)) > Math.abs(Math.log(each / eachBefore));
  return isCalledMore
    ? `${value} is called ${formatTimes(callsNow)} times per trace instead of ${formatTimes(callsBefore)}`
    : `${value} takes ${instead(eachBefore, each)}`;
}

function formatTimes(calls: number): string {
  return calls.toFixed(calls < 10 ? 2 : 0);
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
