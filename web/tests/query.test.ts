import { expect, test } from "vitest";
import {
  type Draft,
  draftToPanel,
  draftToSearch,
  granularityOf,
  NEW_DRAFT,
  panelToDraft,
  readDraft,
  toQuery,
} from "@/lib/queryDraft";
import { readRange } from "@/lib/range";
import { buildCharts } from "@/ui/query/querySeries";

const NOW = Date.parse("2026-03-10T12:00:30Z");
const MONTH = readRange({ range: "30d" }, NOW);

const FULL: Draft = {
  chart: "bar",
  of: "spans",
  measures: ["cost", "signal:a,b%2C"],
  groupBy: ["model", "attribute:tenant,id"],
  filters: [{ field: "kind", op: "in", value: ["llm", "tool"] }],
  step: "daily",
  orderBy: { field: "model", order: "asc" },
  limit: 50,
};

test.each([FULL, NEW_DRAFT])("a query round-trips through the URL: %o", (draft) => {
  expect(readDraft(draftToSearch(draft))).toEqual(draft);
});

test("what is invalid in a URL is replaced by defaults", () => {
  const search = {
    chart: "pie",
    measures: "beauty",
    filters: "[3]",
    limit: "-1",
    step: "hour",
    by: "star",
  };
  expect(readDraft(search)).toEqual(NEW_DRAFT);
});

test("an order by something that is no longer in the query is dropped", () => {
  const orderBy = { field: "model", order: "asc" } as const;
  expect(toQuery({ ...NEW_DRAFT, orderBy }, null).orderBy).toBeNull();
});

test.each([
  ["1h", "hourly", "1m"],
  ["7d", "hourly", "hourly"],
  ["30d", "1m", "daily"],
  ["30d", "none", null],
] as const)("%s by %s is shown by %s", (range, step, shown) => {
  expect(granularityOf(step, readRange({ range }, NOW))).toBe(shown);
});

test.each([FULL, NEW_DRAFT])("a panel is edited as it was saved: %o", (draft) => {
  const panel = draftToPanel(draft, MONTH, { title: "x", width: 6, height: 4 });
  expect(panelToDraft(panel)).toEqual(draft);
});

test("each unit has its own chart, and bars are stacked only if they can be added up", () => {
  const rows = ["a", "b"].map((agent) => ({ date: "2026-03-09", agent, count: 2, p50: 1, p95: 3 }));
  const query = toQuery(
    { ...NEW_DRAFT, measures: ["count", "p50", "p95"], groupBy: ["agent"] },
    "daily",
  );
  const { charts } = buildCharts({ rows, totals: [], total: 2, truncated: false }, query, "bar");
  expect(charts.map((one) => one.unit)).toEqual(["count", "duration"]);
  expect(charts[0]?.series.map((one) => [one.name, one.stack])).toEqual([
    ["a", "all"],
    ["b", "all"],
  ]);
  expect(charts[1]?.series.map((one) => one.type)).toEqual(["line", "line", "line", "line"]);
});
