import { expect, test } from "vitest";
import { MEASURE_NAMES, measureOf } from "@/lib/analyticsQuery";
import { SERIES } from "@/lib/series";
import { kindColour } from "@/ui/kinds";
import { buildCharts } from "@/ui/query/querySeries";

const result = (row: Record<string, unknown>) => ({
  rows: [row],
  totals: [],
  others: [],
  truncated: false,
  total: 1,
});

test("a query draws measures in the colours of the other pages", () => {
  const query = { of: "spans", measures: ["p50", "p95", "inputTokens", "cost"] } as never;
  const row = { date: "2026-01-01", p50: 1, p95: 2, inputTokens: 3, cost: 4 };
  const { charts } = buildCharts(result(row), query, "line");
  const colours = charts.flatMap((chart) => chart.series.map((series) => series.colour));
  const expected = [SERIES.p50, SERIES.p95, SERIES.input, SERIES.cost].map((one) => one.colour);
  expect(colours).toEqual(expected);
});

test("a query by status draws successes and errors as the other pages do", () => {
  const query = { of: "traces", measures: ["count"], groupBy: ["status"] } as never;
  const rows = [
    { date: "2026-01-01", status: "success", count: 3 },
    { date: "2026-01-01", status: "error", count: 1 },
  ];
  const { charts } = buildCharts(
    { rows, totals: [], others: [], truncated: false, total: 2 },
    query,
    "bar",
  );
  expect(charts[0]?.series.map((series) => series.colour)).toEqual([
    SERIES.success.colour,
    SERIES.errors.colour,
  ]);
});

const MANY = Array.from({ length: 10 }, (_, index) => `tool-${index}`);

test("ten groups have ten colours, which do not depend on their order", () => {
  const query = { of: "spans", measures: ["count"], groupBy: ["tool"] } as never;
  const draw = (tools: string[]) => {
    const rows = tools.map((tool) => ({ date: "2026-01-01", tool, count: 1 }));
    const result = { rows, totals: [], others: [], truncated: false, total: rows.length };
    const [chart] = buildCharts(result, query, "line").charts;
    return Object.fromEntries(chart?.series.map((one) => [one.name, one.colour]) ?? []);
  };
  const colours = draw(MANY);
  expect(new Set(Object.values(colours)).size).toBe(10);
  expect(draw(MANY.toReversed())).toEqual(colours);
});

test("measures of one unit have different colours, and the names of the other pages", () => {
  const measures = MEASURE_NAMES.filter((name) => measureOf(name).unit === "ms");
  const query = { of: "spans", measures } as never;
  const [chart] = buildCharts(result({ date: "2026-01-01" }), query, "line").charts;
  expect(chart?.series).toHaveLength(measures.length);
  expect(new Set(chart?.series.map((one) => one.colour)).size).toBe(measures.length);
  expect(chart?.series.map((one) => one.name)).toEqual(
    expect.arrayContaining([SERIES.p50.name, SERIES.p95.name, SERIES.p99.name]),
  );
});

test("kinds have the colours of their icons", () => {
  const query = { of: "spans", measures: ["count"], groupBy: ["kind"] } as never;
  const row = { date: "2026-01-01", kind: "llm", count: 1 };
  const [chart] = buildCharts(result(row), query, "bar").charts;
  expect(chart?.series[0]?.colour).toBe(kindColour("llm"));
});

test("series that share a chart have different colours", () => {
  const { success, errors, p50, p95, p99, input, cachedInput, output } = SERIES;
  for (const chart of [
    [success, errors],
    [p50, p95, p99],
    [input, cachedInput, output],
  ]) {
    expect(new Set(chart.map((one) => one.colour)).size).toBe(chart.length);
  }
});
