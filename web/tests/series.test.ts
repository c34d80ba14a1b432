import { expect, test } from "vitest";
import { SERIES } from "@/lib/series";
import { buildCharts } from "@/ui/query/querySeries";

const result = (row: Record<string, unknown>) => ({
  rows: [row],
  totals: [],
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
  const { charts } = buildCharts({ rows, totals: [], truncated: false, total: 2 }, query, "bar");
  expect(charts[0]?.series.map((series) => series.colour)).toEqual([
    SERIES.success.colour,
    SERIES.errors.colour,
  ]);
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
