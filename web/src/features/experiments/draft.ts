/** The form state of an experiment, its validation, and the request body. */
import type { Schemas } from "@/lib/api";
import type { Experiment } from "./labels";

export interface DraftVariant {
  key: string;
  /** The label that people see; empty if it is the key. */
  name: string;
  weight: number;
  /** A prompt or JSON, as `contents` says. */
  config: string;
}

/** What the application gets with a variant: nothing but its key, a prompt, or any JSON object. */
export type Contents = "none" | "prompt" | "json";

export interface DraftMetric {
  /** The key of a stored metric; the service chooses one for a new metric. */
  key?: string | undefined;
  /** A trace metric, or `signal:` and the name of a signal. */
  what: string;
  direction: "increase" | "decrease";
}

export interface DraftExperiment {
  name: string;
  /** Set by the API only; kept when a draft is edited. */
  description: string | null;
  hypothesis: string;
  agentId: string;
  trafficPercent: number;
  contents: Contents;
  variants: DraftVariant[];
  /** The first is the primary one. */
  metrics: DraftMetric[];
}

export function emptyDraft(): DraftExperiment {
  return {
    name: "",
    description: null,
    hypothesis: "",
    agentId: "",
    trafficPercent: 100,
    contents: "prompt",
    variants: [
      { key: "control", name: "", weight: 1, config: "" },
      { key: "variant", name: "", weight: 1, config: "" },
    ],
    metrics: [
      { what: "successRate", direction: "increase" },
      { what: "latency", direction: "decrease" },
      { what: "cost", direction: "decrease" },
    ],
  };
}

export function fromExperiment(experiment: Experiment): DraftExperiment {
  const configs = experiment.variants.map((variant) => variant.config);
  const contents = contentsOf(configs);
  return {
    name: experiment.name,
    description: experiment.description,
    hypothesis: experiment.hypothesis ?? "",
    agentId: experiment.agentId ?? "",
    trafficPercent: experiment.trafficPercent,
    contents,
    variants: experiment.variants.map(({ key, name, weight, config }) => ({
      key,
      name: name === key ? "" : name,
      weight,
      config: { none: "", prompt: String(config.prompt), json: JSON.stringify(config, null, 2) }[
        contents
      ],
    })),
    metrics: [...experiment.metrics]
      .sort((a, b) => Number(b.primary) - Number(a.primary))
      .map(({ key, metric, signalName, direction }) => ({
        key,
        what: metric ?? `signal:${signalName}`,
        direction,
      })),
  };
}

function contentsOf(configs: Record<string, unknown>[]): Contents {
  if (configs.every((config) => Object.keys(config).length === 0)) return "none";
  return configs.every((config) => readPrompt(config) !== null) ? "prompt" : "json";
}

/** The text of a configuration that is nothing but a prompt. */
export function readPrompt(config: Record<string, unknown>): string | null {
  const isPrompt = Object.keys(config).join() === "prompt" && typeof config.prompt === "string";
  return isPrompt ? (config.prompt as string) : null;
}

/** The configuration that a variant's text stands for; null if it is not valid. */
export function readConfig(contents: Contents, text: string): Record<string, unknown> | null {
  if (contents === "none") return {};
  if (contents === "prompt") return { prompt: text };
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
    draft.variants.every((variant) => readConfig(draft.contents, variant.config) !== null),
    "A configuration is not a JSON object.",
  );
  need(
    1,
    draft.contents !== "prompt" || draft.variants.every((variant) => variant.config.trim() !== ""),
    "Every variant needs a prompt.",
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
    description: draft.description,
    hypothesis: draft.hypothesis.trim() || null,
    agentId: draft.agentId || null,
    trafficPercent: draft.trafficPercent,
    variants: draft.variants.map((variant) => ({
      key: variant.key.trim(),
      name: variant.name.trim() || null,
      weight: variant.weight,
      config: readConfig(draft.contents, variant.config) ?? {},
    })),
    metrics: draft.metrics.map((metric, index) => toMetric(metric, index === 0)),
  };
}

function toMetric(draft: DraftMetric, primary: boolean): Schemas["NewMetric"] {
  const { key = null, what, direction } = draft;
  const signalName = what.startsWith("signal:") ? what.slice("signal:".length).trim() : null;
  return signalName === null
    ? { key, source: "trace", metric: what as Schemas["TraceMetric"], direction, primary }
    : { key, source: "signal", signalName, direction, primary };
}
