/** The form state of a new experiment, its validation, and the request body. */
import type { Schemas } from "@/lib/api";

export interface DraftVariant {
  key: string;
  weight: number;
  config: string;
}

export interface DraftMetric {
  /** A trace metric, or `signal:` and the name of a signal. */
  what: string;
  direction: "increase" | "decrease";
}

export interface DraftExperiment {
  name: string;
  hypothesis: string;
  agentId: string;
  trafficPercent: number;
  variants: DraftVariant[];
  /** The first is the primary one. */
  metrics: DraftMetric[];
}

export function emptyDraft(): DraftExperiment {
  return {
    name: "",
    hypothesis: "",
    agentId: "",
    trafficPercent: 100,
    variants: [
      { key: "control", weight: 1, config: "" },
      { key: "variant", weight: 1, config: "" },
    ],
    metrics: [
      { what: "successRate", direction: "increase" },
      { what: "latency", direction: "decrease" },
      { what: "cost", direction: "decrease" },
    ],
  };
}

export function readConfig(text: string): Record<string, unknown> | null {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

interface Problem {
  step: number;
  words: string;
}

/** Validation errors, each with the step that fixes it. */
export function problemsOf(draft: DraftExperiment): Problem[] {
  const problems: Problem[] = [];
  const need = (step: number, isFine: boolean, words: string) => {
    if (!isFine) problems.push({ step, words });
  };
  const keys = draft.variants.map((variant) => variant.key.trim());
  need(0, draft.name.trim() !== "", "The experiment needs a name.");
  need(
    0,
    draft.trafficPercent > 0 && draft.trafficPercent <= 100,
    "Traffic must be between 1 and 100 percent.",
  );
  need(1, keys.length >= 2, "At least two variants are required.");
  need(1, keys.every(Boolean), "Every variant needs a key.");
  need(1, new Set(keys).size === keys.length, "Two variants have the same key.");
  need(
    1,
    draft.variants.every((variant) => readConfig(variant.config) !== null),
    "A configuration is not a JSON object.",
  );
  need(
    1,
    new Set(draft.variants.map((variant) => variant.config.trim() === "")).size === 1,
    "Give every variant a configuration, or none.",
  );
  need(2, draft.metrics.length > 0, "At least one metric is required.");
  need(
    2,
    draft.metrics.every((metric) => metric.what !== "signal:"),
    "Choose a signal.",
  );
  return problems;
}

export function toBody(draft: DraftExperiment): Schemas["NewExperiment"] {
  return {
    name: draft.name.trim(),
    hypothesis: draft.hypothesis.trim() || null,
    agentId: draft.agentId || null,
    trafficPercent: draft.trafficPercent,
    variants: draft.variants.map((variant) => ({
      key: variant.key.trim(),
      weight: variant.weight,
      config: readConfig(variant.config) ?? {},
    })),
    metrics: draft.metrics.map((metric, index) => toMetric(metric, index === 0)),
  };
}

function toMetric({ what, direction }: DraftMetric, primary: boolean): Schemas["NewMetric"] {
  const signalName = what.startsWith("signal:") ? what.slice("signal:".length).trim() : null;
  return signalName === null
    ? { source: "trace", metric: what as Schemas["TraceMetric"], direction, primary }
    : { source: "signal", signalName, direction, primary };
}
