/** The charts of the overview as panels, for a dashboard that starts as its copy. */
import type { Chart, Query } from "./analyticsQuery";
import type { Panel } from "./queryDraft";

const NUMBER = { width: 2, height: 2 };
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

/** Bars over time need an interval; it adapts when it does not suit the range. */
export const OVERVIEW_PANELS: Panel[] = [
  panel("Traces", "number", { measures: ["count"] }, NUMBER),
  panel("Error rate", "number", { measures: ["errorRate"] }, NUMBER),
  panel("p95 latency", "number", { measures: ["p95"] }, NUMBER),
  panel("Tokens", "number", { measures: ["totalTokens"] }, NUMBER),
  panel("Cost", "number", { measures: ["cost"] }, NUMBER),
  panel("Active agents", "number", { measures: ["agents"] }, NUMBER),
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
  }),
  panel("Error rate", "area", { measures: ["errorRate"] }),
  panel("Tokens", "bar", { measures: ["inputTokens", "outputTokens"], granularity: "hourly" }),
  panel("Cost", "bar", { measures: ["cost"], granularity: "hourly" }),
  panel(
    "Cost by model",
    "bar",
    {
      of: "spans",
      measures: ["cost"],
      groupBy: ["model"],
      filters: [{ field: "model", op: "exists" }],
    },
    QUARTER,
  ),
  panel(
    "Errors by type",
    "bar",
    {
      measures: ["errors"],
      groupBy: ["errorType"],
      filters: [{ field: "status", op: "eq", value: "error" }],
    },
    QUARTER,
  ),
  panel(
    "Tools by agent",
    "table",
    {
      of: "spans",
      measures: ["count", "errorRate", "p95"],
      groupBy: ["tool", "agent"],
      filters: [{ field: "kind", op: "eq", value: "tool" }],
      limit: 100,
    },
    HALF,
  ),
];
