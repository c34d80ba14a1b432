import { expect, test } from "vitest";
import {
  isOfFailures,
  listQuery,
  narrowedList,
  readList,
  traceSearch,
  writeList,
} from "@/lib/traceFilters";
import { parseSearch } from "@/lib/url";

const list = {
  ws: "wsp_1",
  range: "24h",
  agent: "planner",
  filters: '[{"field":"model","op":"eq","value":"a&b=c"}]',
  sort: "cost",
  order: "asc",
  cols: "time,name",
};

test("a link to a trace keeps the filters and the order of its list", () => {
  const url = parseSearch(traceSearch(list));
  expect(url).toMatchObject({ ws: "wsp_1", range: "24h", agent: "planner" });
  expect(url.filters).toBeUndefined();
  const { cols: _cols, ...rest } = list;
  expect(readList({ ...url, span: "0123", find: "words", search: "not of the list" })).toEqual({
    ...rest,
    env: undefined,
    from: undefined,
    to: undefined,
    refresh: undefined,
  });
  expect(listQuery(readList(url), {})).toEqual(listQuery(list, {}));
});

test("a list without filters adds nothing to the link", () => {
  expect(writeList({ range: "24h", cols: "time" })).toBeUndefined();
  expect(listQuery(readList({}), {})).toMatchObject({ sort: "startTime", order: "desc" });
});

test("a list of failed traces is recognized", () => {
  const filtered = (condition: object) => isOfFailures({ filters: JSON.stringify([condition]) });
  expect(filtered({ field: "status", op: "eq", value: "error" })).toBe(true);
  expect(filtered({ field: "failure", op: "eq", value: "flr_1" })).toBe(true);
  expect(filtered({ field: "errorType", op: "in", value: ["timeout"] })).toBe(true);
  expect(filtered({ field: "errorType", op: "ne", value: "timeout" })).toBe(false);
  expect(filtered({ field: "failure", op: "exists", value: false })).toBe(false);
  expect(filtered({ field: "status", op: "eq", value: "success" })).toBe(false);
  expect(isOfFailures({})).toBe(false);
});

test("a value of a trace is added to the filters of its list once", () => {
  const url = parseSearch(traceSearch(list));
  const added = { field: "tool", op: "eq" as const, value: "search" };
  const narrowed = narrowedList(url, added);
  expect(narrowed).toMatchObject({ agent: "planner", sort: "cost" });
  expect(JSON.parse(narrowed.filters ?? "")).toEqual([...JSON.parse(list.filters), added]);
  const again = narrowedList(parseSearch(traceSearch({ ...narrowed })), added);
  expect(again.filters).toBe(narrowed.filters);
});
