import { expect, test } from "vitest";
import { safePath } from "@/features/auth/safePath";
import { assignColours } from "@/lib/colours";
import { autoGranularity, bucketEnd, readRange } from "@/lib/range";
import { parseSearch, stringifySearch } from "@/lib/url";
import { topSeries } from "@/ui/chart/series";

const NOW = Date.parse("2026-03-10T12:00:30Z");

test("the address holds plain text, both ways", () => {
  const search = { search: 'a "b" & c', model: "123", empty: "", gone: undefined };
  expect(stringifySearch(search)).toBe("?search=a+%22b%22+%26+c&model=123");
  expect(parseSearch(stringifySearch(search))).toEqual({ search: 'a "b" & c', model: "123" });
});

test("a preset ends with the running minute; one of a day or more begins with an hour", () => {
  const range = readRange({ range: "24h" }, NOW);
  expect(range.to.toISOString()).toBe("2026-03-10T12:01:00.000Z");
  expect(range.from.toISOString()).toBe("2026-03-09T12:00:00.000Z");
  expect(readRange({ range: "6h" }, NOW).from.toISOString()).toBe("2026-03-10T06:01:00.000Z");
  expect(autoGranularity(range)).toBe("hourly");
  expect(autoGranularity(readRange({ range: "90d" }, NOW))).toBe("daily");
});

test.each([
  { range: "5 years" },
  { from: "yesterday", to: "2026-01-01" },
  { from: "2026-02-01", to: "2026-01-01" },
  { to: "2026-01-01" },
])("an address that cannot be read says so: %o", (search) => {
  expect(readRange(search, NOW).problem).toBeTruthy();
});

test("two moments are a range", () => {
  const range = readRange({ from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" }, NOW);
  expect(range).toMatchObject({ preset: null, problem: null });
  expect(bucketEnd("2026-01-31", "monthly")).toBe(Date.parse("2026-02-01"));
});

test("after signing in only a path of ours is opened", () => {
  expect(safePath("/traces?x=1")).toBe("/traces?x=1");
  for (const bad of [undefined, "//evil.example", "/\\evil.example", "https://evil.example"]) {
    expect(safePath(bad)).toBe("/");
  }
});

test("ten names get ten colours, and keep them when more come", () => {
  const names = Array.from({ length: 10 }, (_, i) => `agent-${i}`);
  const first = assignColours(names, {});
  expect(new Set(Object.values(first)).size).toBe(10);
  expect(assignColours([...names, "another"], first)).toMatchObject(first);
  expect(assignColours(names.toReversed(), {})).toEqual(first);
});

test("five series by name, the rest together", () => {
  const points: Record<string, number>[] = [{ a: 9, b: 8, c: 7, d: 6, e: 5, f: 4, g: 3 }, { g: 1 }];
  const series = topSeries(points, () => "red");
  expect(series.map((one) => one.name)).toEqual(["a", "b", "c", "d", "e", "other"]);
  expect(series.at(-1)?.values).toEqual([7, 1]);
});
