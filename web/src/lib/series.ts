/**
 * The series that several pages show: the same word and colour everywhere. Measures are neutral, so
 * that none has the colour of an agent or a model; errors and successes have the colours of a status.
 */

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
  p50: { name: "p50", colour: "var(--measure-2)" },
  p95: { name: "p95", colour: "var(--measure-1)" },
  p99: { name: "p99", colour: "var(--measure-0)" },
  input: { name: "input", colour: "var(--measure-1)" },
  cacheWrites: { name: "cache writes", colour: "var(--measure-3)" },
  reasoning: { name: "reasoning", colour: "var(--measure-6)" },
  agents: { name: "active agents", colour: "var(--measure-6)" },
  cachedInput: { name: "cached input", colour: "var(--measure-2)" },
  output: { name: "output", colour: "var(--measure-5)" },
  tokens: { name: "tokens", colour: "var(--measure-0)" },
  unpriced: { name: "tokens without a price", colour: "var(--measure-4)" },
  cost: { name: "cost", colour: "var(--measure-1)" },
  count: { name: "count", colour: "var(--measure-1)" },
  users: { name: "users", colour: "var(--measure-5)" },
  sessions: { name: "sessions", colour: "var(--measure-2)" },
  meanLatency: { name: "mean", colour: "var(--measure-5)" },
  meanFirstToken: { name: "mean time to first token", colour: "var(--measure-4)" },
  p50FirstToken: { name: "p50 time to first token", colour: "var(--measure-6)" },
  p95FirstToken: { name: "p95 time to first token", colour: "var(--measure-3)" },
} as const satisfies Record<string, SeriesStyle>;

/** The measures of queries; those of one unit share a chart. */
const MEASURES: Record<string, SeriesStyle> = {
  count: SERIES.count,
  users: SERIES.users,
  sessions: SERIES.sessions,
  avgLatency: SERIES.meanLatency,
  avgTimeToFirstToken: SERIES.meanFirstToken,
  p50TimeToFirstToken: SERIES.p50FirstToken,
  p95TimeToFirstToken: SERIES.p95FirstToken,
  errors: SERIES.errors,
  errorRate: SERIES.errorRate,
  p50: SERIES.p50,
  p95: SERIES.p95,
  p99: SERIES.p99,
  inputTokens: SERIES.input,
  cachedTokens: SERIES.cachedInput,
  cacheWriteTokens: SERIES.cacheWrites,
  reasoningTokens: SERIES.reasoning,
  totalTokens: SERIES.tokens,
  unpricedTokens: SERIES.unpriced,
  agents: SERIES.agents,
  outputTokens: SERIES.output,
  cost: SERIES.cost,
};

/** The statuses of traces and spans as groups of a query. */
const STATUSES: Record<string, SeriesStyle> = {
  success: SERIES.success,
  ok: SERIES.success,
  error: SERIES.errors,
};

/** The series of a measure; signals have none. */
export function measureSeries(measure: string): SeriesStyle | undefined {
  return MEASURES[measure];
}

export function statusColour(status: string): string | undefined {
  return STATUSES[status]?.colour;
}
