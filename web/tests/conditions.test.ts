import { afterEach, expect, test } from "vitest";
import {
  comparisonsOf,
  describeConditions,
  fromConditions,
  groupConditions,
  readConditions,
  toConditions,
  writeConditions,
} from "@/lib/conditions";
import { formatShortTime } from "@/lib/format";
import { readRange } from "@/lib/range";
import { fromField, setTimeZone, toField } from "@/lib/timeZone";

// A Tuesday.
const NOW = Date.parse("2026-03-10T12:00:30Z");

afterEach(() => setTimeZone("local"));

test("one value is compared, several become a list", () => {
  expect(toConditions("model", "eq", ["a"])).toEqual([{ field: "model", op: "eq", value: "a" }]);
  expect(toConditions("model", "eq", ["a", "b"])).toEqual([
    { field: "model", op: "in", value: ["a", "b"] },
  ]);
});

test.each([
  ["model", "eq", ["a"]],
  ["model", "eq", ["a", "b"]],
  ["model", "ne", ["a"]],
  ["cost", "gte", ["0.5"]],
  ["user", "missing", []],
  ["cost", "exists", []],
  ["cost", "between", ["0", "2"]],
  ["name", "eq", ["a", "b"]],
] as const)("a condition is changed as it was added: %s %s %j", (field, comparison, values) => {
  expect(comparisonsOf(field)).toContain(comparison);
  expect(fromConditions(toConditions(field, comparison, values))).toEqual({ comparison, values });
});

test("the bounds of a range belong together", () => {
  const range = toConditions("cost", "between", ["1", "2"]);
  const [model] = toConditions("model", "eq", ["a"]);
  const slow = toConditions("durationMs", "lte", ["5"]);
  expect(model && groupConditions([model, ...range, ...slow])).toEqual([[model], range, slow]);
  expect(describeConditions(range)).toBe("Cost between $1 and $2");
});

test("none of several values must match with `is not`", () => {
  expect(toConditions("model", "ne", ["a", "b"])).toEqual([
    { field: "model", op: "ne", value: "a" },
    { field: "model", op: "ne", value: "b" },
  ]);
});

test("numbers are sent as numbers, and a range as two conditions", () => {
  expect(toConditions("cost", "between", ["0.5", "2"])).toEqual([
    { field: "cost", op: "gte", value: 0.5 },
    { field: "cost", op: "lte", value: 2 },
  ]);
  expect(toConditions("attribute:retries", "gt", ["3"])[0]?.value).toBe(3);
  expect(toConditions("attribute:retries", "eq", ["3"])[0]?.value).toBe("3");
});

test("existence needs no value", () => {
  expect(toConditions("tool", "exists", [])).toEqual([{ field: "tool", op: "exists" }]);
  expect(toConditions("tool", "missing", [])).toEqual([
    { field: "tool", op: "exists", value: false },
  ]);
});

test.each([
  [{ field: "model", op: "in", value: ["a", "b"] }, "Model is a or b"],
  [{ field: "cost", op: "gte", value: 0.5 }, "Cost ≥ $0.5"],
  [{ field: "durationMs", op: "lt", value: 900 }, "Duration < 900 ms"],
  [{ field: "attribute:tenant", op: "exists", value: false }, "tenant does not exist"],
] as const)("a condition is described: %o", (condition, words) => {
  expect(describeConditions([{ ...condition } as never])).toBe(words);
});

test("conditions round-trip through the URL, and invalid text has none", () => {
  const conditions = toConditions("userId", "contains", ["ada"]);
  expect(readConditions(writeConditions(conditions))).toEqual(conditions);
  expect(writeConditions([])).toBeUndefined();
  for (const text of ["{", "7", "null", '[null, 1, {"op":"eq"}]']) {
    expect(readConditions(text)).toEqual([]);
  }
});

test("calendar ranges start at midnight of the chosen zone", () => {
  setTimeZone("utc");
  const datesOf = (range: string) => {
    const { from, to } = readRange({ range }, NOW);
    return [from.toISOString().slice(0, 16), to.toISOString().slice(0, 16)];
  };
  expect(datesOf("today")).toEqual(["2026-03-10T00:00", "2026-03-10T12:01"]);
  expect(datesOf("yesterday")).toEqual(["2026-03-09T00:00", "2026-03-10T00:00"]);
  expect(datesOf("week")).toEqual(["2026-03-09T00:00", "2026-03-10T12:01"]);
});

test("times are shown and entered in the chosen zone", () => {
  const at = new Date("2026-03-10T12:00:00Z");
  expect(fromField(toField(at))).toEqual(at);
  setTimeZone("utc");
  expect(formatShortTime(at)).toBe("10 Mar, 12:00");
  expect(toField(at)).toBe("2026-03-10T12:00");
  expect(fromField("2026-03-10T12:00")).toEqual(at);
});
