import { expect, test } from "vitest";
import { safePath } from "@/features/auth/safePath";
import { assignColours } from "@/lib/colours";
import { autoGranularity, bucketEnd, readRange } from "@/lib/range";
import { parseSearch, stringifySearch } from "@/lib/url";

const NOW = Date.parse("2026-03-10T12:00:30Z");

test("URL parameters round-trip as plain text", () => {
  const search = { search: 'a "b" & c', model: "123", empty: "", gone: undefined };
  expect(stringifySearch(search)).toBe("?search=a+%22b%22+%26+c&model=123");
  expect(parseSearch(stringifySearch(search))).toEqual({ search: 'a "b" & c', model: "123" });
});

test("a preset ends with the current minute; a day or more starts at a full hour", () => {
  const range = readRange({ range: "24h" }, NOW);
  expect(range.to.toISOString()).toBe("2026-03-10T12:01:00.000Z");
  expect(range.from.toISOString()).toBe("2026-03-09T12:00:00.000Z");
  expect(readRange({ range: "6h" }, NOW).from.toISOString()).toBe("2026-03-10T06:01:00.000Z");
});

test.each([
  ["1h", "1m"],
  ["6h", "5m"],
  ["24h", "15m"],
  ["7d", "hourly"],
  ["90d", "daily"],
])("%s has buckets of %s", (range, granularity) => {
  expect(autoGranularity(readRange({ range }, NOW))).toBe(granularity);
});

test.each([
  { range: "5 years" },
  { from: "yesterday", to: "2026-01-01" },
  { from: "2026-02-01", to: "2026-01-01" },
  { to: "2026-01-01" },
])("an invalid range is reported: %o", (search) => {
  expect(readRange(search, NOW).problem).toBeTruthy();
});

test("two dates are a range", () => {
  const range = readRange({ from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" }, NOW);
  expect(range).toMatchObject({ preset: null, problem: null });
  expect(bucketEnd("2026-01-31", "monthly")).toBe(Date.parse("2026-02-01"));
  expect(bucketEnd("2026-01-31T12:45:00Z", "15m")).toBe(Date.parse("2026-01-31T13:00:00Z"));
});

test("signing in redirects only to paths of this site", () => {
  expect(safePath("/traces?x=1")).toBe("/traces?x=1");
  const others = ["//evil.example", "/\\evil.example", "/\t/evil.example", "https://evil.example"];
  for (const bad of [undefined, ...others]) {
    expect(safePath(bad)).toBe("/");
  }
});

test("more names than hues get a second shade", () => {
  const names = Array.from({ length: 20 }, (_, i) => `agent-${i}`);
  const assigned = Object.values(assignColours(names, {}));
  expect(new Set(assigned).size).toBe(20);
  const first = assignColours(names.slice(0, 10), {});
  expect(Math.max(...Object.values(first))).toBe(9);
});

test("ten names get ten colours and keep them", () => {
  const names = Array.from({ length: 10 }, (_, i) => `agent-${i}`);
  const first = assignColours(names, {});
  expect(new Set(Object.values(first)).size).toBe(10);
  expect(assignColours([...names, "another"], first)).toMatchObject(first);
  expect(assignColours(names.toReversed(), {})).toEqual(first);
});
