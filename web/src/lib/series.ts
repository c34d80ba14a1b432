/** The series that several pages show: the same word and colour everywhere. */

export interface SeriesStyle {
  name: string;
  colour: string;
}

export const SERIES = {
  success: {
    name: "success",
    // Most traces succeed: the failures must stand out.
    colour: "color-mix(in srgb, var(--good) 45%, var(--surface))",
  },
  errors: { name: "errors", colour: "var(--bad)" },
  errorRate: { name: "error rate", colour: "var(--bad)" },
  p50: { name: "p50", colour: "var(--series-2)" },
  p95: { name: "p95", colour: "var(--series-0)" },
  p99: { name: "p99", colour: "var(--series-4)" },
  input: { name: "input", colour: "var(--series-0)" },
  cachedInput: { name: "cached input", colour: "var(--series-2)" },
  output: { name: "output", colour: "var(--series-1)" },
  tokens: { name: "tokens", colour: "var(--series-4)" },
  cost: { name: "cost", colour: "var(--series-5)" },
} as const satisfies Record<string, SeriesStyle>;

/** The measures of queries that are drawn elsewhere too. */
const MEASURES: Record<string, SeriesStyle> = {
  errors: SERIES.errors,
  errorRate: SERIES.errorRate,
  p50: SERIES.p50,
  p95: SERIES.p95,
  p99: SERIES.p99,
  inputTokens: SERIES.input,
  cachedTokens: SERIES.cachedInput,
  outputTokens: SERIES.output,
  cost: SERIES.cost,
};

/** The statuses of traces and spans as groups of a query. */
const STATUSES: Record<string, SeriesStyle> = {
  success: SERIES.success,
  ok: SERIES.success,
  error: SERIES.errors,
};

export function measureColour(measure: string): string | undefined {
  return MEASURES[measure]?.colour;
}

export function statusColour(status: string): string | undefined {
  return STATUSES[status]?.colour;
}
