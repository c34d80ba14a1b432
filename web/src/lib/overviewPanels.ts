/** The panels of the overview, and of a dashboard that starts as its copy. */
import type { Chart, Query } from "./analyticsQuery";
import type { Panel } from "./queryDraft";

const HALF = { width: 6, height: 4 };
const QUARTER = { width: 3, height: 4 };

function panel(
  title: string,
  chart: Chart,
  query: Partial<Query> & Pick<Query, "measures">,
  size = HALF,
): Panel {
  return { title, chart, query: { of: "traces", limit: 10, ...query }, ...size };
}

/** What the overview draws. Bars over time need an interval; the page has its own for them. */
export const OVERVIEW_PANELS: Panel[] = [
  panel(
    "Key metrics",
    "number",
    { measures: ["count", "errorRate", "p95", "totalTokens", "cost", "agents"] },
    { width: 12, height: 2 },
  ),
  panel("Requests by agent", "bar", {
    measures: ["count"],
    groupBy: ["agent"],
    granularity: "hourly",
  }),
  panel("Latency", "line", { measures: ["p50", "p95", "p99"] }),
  panel("Success and failure", "bar", {
    measures: ["count"],
    groupBy: ["status"],
    granularity: "hourly",
    // Failures are drawn on top.
    orderBy: { field: "status", order: "desc" },
  }),
  panel("Error rate", "area", { measures: ["errorRate"] }),
  panel("Tokens", "bar", { measures: ["inputTokens", "outputTokens"], granularity: "hourly" }),
  panel("Cost", "bar", { measures: ["cost"], granularity: "hourly" }),
];

/** What the overview draws from sums that a query would have to read all spans for. */
export const COST_BY_MODEL = panel(
  "Cost by model",
  "bar",
  {
    of: "spans",
    measures: ["cost"],
    groupBy: ["model"],
    filters: [{ field: "model", op: "exists" }],
  },
  QUARTER,
);
export const ERRORS_BY_TYPE = panel(
  "Errors by type",
  "bar",
  {
    measures: ["errors"],
    groupBy: ["errorType"],
    filters: [{ field: "status", op: "eq", value: "error" }],
  },
  QUARTER,
);
export const TOOLS_BY_AGENT = panel("Tools by agent", "table", {
  of: "spans",
  measures: ["count", "errorRate", "p95"],
  groupBy: ["tool", "agent"],
  filters: [{ field: "kind", op: "eq", value: "tool" }],
  limit: 100,
});

export const OVERVIEW_COPY = [...OVERVIEW_PANELS, COST_BY_MODEL, ERRORS_BY_TYPE, TOOLS_BY_AGENT];
