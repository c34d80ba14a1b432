import { expect, test } from "vitest";
import type { Query } from "@/lib/analyticsQuery";
import { listBehind } from "@/lib/behind";

const QUERY: Query = {
  of: "traces",
  measures: ["count"],
  groupBy: ["agent", "model"],
  filters: [{ field: "environment", op: "eq", value: "live" }],
  limit: 10,
};

function filtersOf(query: Query, part: Parameters<typeof listBehind>[1]) {
  const { filters } = listBehind(query, part).search;
  return filters && JSON.parse(filters);
}

test("a group is listed by the filters of its query and its values", () => {
  expect(filtersOf(QUERY, { row: { agent: "planner", model: null } })).toEqual([
    { field: "environment", op: "eq", value: "live" },
    { field: "agent", op: "eq", value: "planner" },
    { field: "model", op: "exists", value: false },
  ]);
});

test("a point is listed by its step in UTC, a row without one by the range of the page", () => {
  const step = { date: "2026-03-09", granularity: "daily" } as const;
  expect(listBehind(QUERY, { step }).search).toMatchObject({
    range: undefined,
    from: "2026-03-09T00:00:00.000Z",
    to: "2026-03-10T00:00:00.000Z",
  });
  expect(listBehind(QUERY, {}).search).not.toHaveProperty("from");
});

test("behind errors are only failures, once", () => {
  const failed = { field: "status", op: "eq", value: "error" } as const;
  const ofErrors = { ...QUERY, groupBy: [], filters: [failed] };
  expect(filtersOf(ofErrors, { measure: "errorRate" })).toEqual([failed]);
  expect(filtersOf({ ...ofErrors, filters: [] }, { measure: "errors" })).toEqual([failed]);
  expect(filtersOf({ ...ofErrors, filters: [] }, { measure: "count" })).toBeUndefined();
});

test("spans are listed one by one, and agent and environment of the page are not added", () => {
  expect(listBehind(QUERY, {})).toMatchObject({ to: "/traces", search: { agent: undefined } });
  const ofSpans = listBehind({ ...QUERY, of: "spans" }, {});
  expect(ofSpans).toMatchObject({ to: "/spans", search: { tab: "list", env: undefined } });
});
