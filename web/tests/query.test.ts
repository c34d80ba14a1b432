import { expect, test } from "vitest";
import type { Result } from "@/lib/analyticsQuery";
import { listBehind } from "@/lib/behind";
import {
  type Draft,
  draftToPanel,
  draftToSearch,
  granularityOf,
  granularityOfDraft,
  NEW_DRAFT,
  offeredSteps,
  panelToDraft,
  readDraft,
  toQuery,
  withPart,
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

const DATES = ["2026-03-09", "2026-03-10"];

/** A result with a row per group and date; `values` are those of a group on both dates. */
function resultOf(
  groups: Record<string, Record<string, number | null>>,
  more: Partial<Result> = {},
) {
  const rows = Object.entries(groups).flatMap(([agent, values]) =>
    DATES.map((date) => ({ date, agent, ...values })),
  );
  const total = Object.keys(groups).length;
  return { rows, totals: [], others: [], truncated: false, total, ...more };
}

function draw(result: Result, query: Partial<Draft>, type: "line" | "bar" = "bar") {
  const draft = { ...NEW_DRAFT, groupBy: ["agent"], ...query };
  return buildCharts(result, toQuery(draft, "daily"), type).charts;
}

test("each unit has its own chart; bars that add up are stacked, others stand beside each other", () => {
  const result = resultOf({ a: { count: 2, p50: 1, p95: 3 }, b: { count: 2, p50: 1, p95: 3 } });
  const charts = draw(result, { measures: ["count", "p50", "p95"] });
  expect(charts.map((one) => one.unit)).toEqual(["count", "ms"]);
  expect(charts[0]?.series.map((one) => [one.name, one.stack])).toEqual([
    ["a", "all"],
    ["b", "all"],
  ]);
  expect(charts[1]?.series.map((one) => [one.type, one.stack])).toEqual(
    Array(4).fill(["bar", undefined]),
  );
});

test("traces are not stacked by what they can have several of", () => {
  const result = resultOf({ a: { cost: 2 }, b: { cost: 3 } });
  const stacks = (query: Partial<Draft>) =>
    draw(result, { measures: ["cost"], groupBy: ["model"], ...query })[0]?.series[0]?.stack;
  expect(stacks({ of: "traces" })).toBeUndefined();
  expect(stacks({ of: "spans" })).toBe("all");
});

const MANY = Object.fromEntries(
  Array.from({ length: 13 }, (_, at) => [`g${at}`, { count: 20 - at }]),
);

test("a stack is as high as the total: groups beyond the tenth and the limit are “other”", () => {
  const others = [
    { date: "2026-03-09", count: 5 },
    { date: "2026-03-10", count: 0 },
  ];
  const [chart] = draw(resultOf(MANY, { others, total: 15 }), {});
  const sums = DATES.map((_, at) =>
    chart?.series.reduce((sum, { values }) => sum + Number(values[at]), 0),
  );
  const shown = 13 * 20 - (13 * 12) / 2;
  expect(sums).toEqual([shown + 5, shown]);
  expect(chart?.series).toHaveLength(11);
  expect(chart?.series.at(-1)?.name).toBe("other");
  expect(chart?.note).toBe("Top 10 of 15 groups, the rest as “other”");
  const { search } = listBehind(toQuery({ ...NEW_DRAFT, groupBy: ["agent"] }, null), {
    ...chart?.parts.get("other"),
  });
  expect(JSON.parse(search.filters ?? "")).toContainEqual({
    field: "agent",
    op: "ne",
    value: "g9",
  });
});

test("lines have no “other”, and say which groups they are", () => {
  const [chart] = draw(resultOf(MANY), {}, "line");
  expect(chart?.series).toHaveLength(10);
  expect(chart?.note).toBe("Top 10 of 13 groups");
  const byName = { orderBy: { field: "agent", order: "asc" } } as const;
  expect(draw(resultOf(MANY), byName, "line")[0]?.note).toBe("First 10 of 13 groups");
});

test("the last of eleven groups takes the place of “other”", () => {
  const eleven = Object.fromEntries(Object.entries(MANY).slice(0, 11));
  const [chart] = draw(resultOf(eleven), {});
  expect(chart?.series.at(-1)?.name).toBe("g10");
  expect(chart?.note).toBeNull();
});

test("groups without a value are neither drawn nor named", () => {
  const names = (groups: Parameters<typeof resultOf>[0], measures: string[]) =>
    draw(resultOf(groups), { measures })[0]?.series.map((one) => one.name);
  expect(names({ a: { p50: null }, b: { p50: 3 } }, ["p50"])).toEqual(["b"]);
  expect(names({ a: { count: 0 }, b: { count: 3 } }, ["count"])).toEqual(["b"]);
  // An error rate of 0 is a value.
  expect(names({ a: { errorRate: 0 }, b: { errorRate: 1 } }, ["errorRate"])).toEqual(["a", "b"]);
  const [all] = draw({ ...resultOf({ a: { count: 0 } }) }, { groupBy: [] });
  expect(all?.series.map((one) => one.values)).toEqual([[0, 0]]);
});

test("a table, and bars by something other than time, show the whole period unless asked", () => {
  expect(withPart(NEW_DRAFT, { chart: "table" }).step).toBe("none");
  expect(withPart(NEW_DRAFT, { chart: "bar" }).step).toBe("auto");
  const grouped = withPart(withPart(NEW_DRAFT, { chart: "bar" }), { groupBy: ["agent"] });
  expect(grouped.step).toBe("none");
  expect(withPart(grouped, { chart: "line" }).step).toBe("auto");
  const daily = withPart(grouped, { step: "daily" });
  expect(withPart(daily, { chart: "table" }).step).toBe("daily");
  expect(withPart(daily, { groupBy: [] }).step).toBe("daily");
});

test("the whole period is offered to lines too, and turns them into bars", () => {
  expect(offeredSteps("line")).toContain("none");
  expect(withPart(NEW_DRAFT, { step: "none" })).toMatchObject({ chart: "bar", step: "none" });
});

test("bars beside each other have fewer steps than those of a stack", () => {
  const week = readRange({ range: "7d" }, NOW);
  const bars: Draft = { ...NEW_DRAFT, chart: "bar", groupBy: ["agent"], step: "auto" };
  expect(granularityOfDraft(bars, week)).toBe("hourly");
  expect(granularityOfDraft({ ...bars, measures: ["p95"] }, week)).toBe("daily");
  expect(granularityOfDraft({ ...bars, measures: ["p95"], groupBy: [] }, week)).toBe("hourly");
});
