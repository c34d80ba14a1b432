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
  cacheWrites: { name: "cache writes", colour: "var(--series-6)" },
  reasoning: { name: "reasoning", colour: "var(--series-9)" },
  agents: { name: "active agents", colour: "var(--muted)" },
  cachedInput: { name: "cached input", colour: "var(--series-2)" },
  output: { name: "output", colour: "var(--series-1)" },
  tokens: { name: "tokens", colour: "var(--series-4)" },
  cost: { name: "cost", colour: "var(--series-5)" },
  count: { name: "count", colour: "var(--accent)" },
  users: { name: "users", colour: "var(--series-2)" },
  sessions: { name: "sessions", colour: "var(--series-3)" },
  meanLatency: { name: "mean", colour: "var(--series-1)" },
  meanFirstToken: { name: "mean time to first token", colour: "var(--series-5)" },
  p50FirstToken: { name: "p50 time to first token", colour: "var(--series-3)" },
  p95FirstToken: { name: "p95 time to first token", colour: "var(--series-8)" },
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
