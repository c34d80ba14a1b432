import { describe, expect, test } from "vitest";
import {
  cutMiddle,
  formatAgo,
  formatChange,
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPoints,
  trimZeros,
} from "@/lib/format";

describe("durations", () => {
  test.each([
    [0, "0 ms"],
    [0.42, "0.4 ms"],
    [812.4, "812 ms"],
    [999.6, "1.00 s"],
    [1240, "1.24 s"],
    [12_340, "12.3 s"],
    [59_990, "1m"],
    [123_000, "2m 03s"],
    [3_900_000, "1h 05m"],
    [null, "–"],
  ])("%s ms is %s", (ms, shown) => expect(formatDuration(ms)).toBe(shown));
});

describe("cost", () => {
  test.each([
    [0, "$0"],
    [0.0042, "$0.0042"],
    [0.000012, "$0.000012"],
    [0.312, "$0.31"],
    [0.996, "$1.00"],
    [12.31, "$12.31"],
    [1234.5, "$1,234.50"],
    [12_345, "$12.3k"],
  ])("%s is %s", (usd, shown) => expect(formatCost(usd)).toBe(shown));
});

describe("large numbers", () => {
  test.each([
    [0, "0"],
    [999, "999"],
    [1234, "1.2k"],
    [999_900, "1M"],
    [3_400_000, "3.4M"],
  ])("%s is %s", (value, shown) => expect(formatCompact(value)).toBe(shown));
});

test("a rate below 1 never shows as 100%", () => {
  expect(formatPercent(0.99999)).toBe("99.9%");
  expect(formatPercent(1)).toBe("100%");
  expect(formatPercent(0.00123)).toBe("0.12%");
});

test("a change has a sign and needs an earlier value", () => {
  expect(formatChange(112, 100)).toBe("+12%");
  expect(formatChange(88, 100)).toBe("−12%");
  expect(formatChange(500, 1)).toBe(">999%");
  expect(formatChange(5, 0)).toBeNull();
});

test("the difference of two rates is in points", () => {
  expect(formatPoints(0.0123)).toBe("+1.2 pts");
  expect(formatPoints(-0.00456)).toBe("−0.46 pts");
  expect(formatPoints(0.00001)).toBe("±0 pts");
  expect(formatPoints(null)).toBe("–");
});

test("negative numbers have a minus sign, not a hyphen", () => {
  expect(formatCount(-1200)).toBe("−1,200");
  expect(formatCompact(-1200)).toBe("−1.2k");
  expect(formatDuration(-12_340)).toBe("−12.3 s");
  expect(formatCost(-0.312)).toBe("−$0.31");
  expect(formatPercent(-0.663)).toBe("−66.3%");
  expect(formatNumber(-1.5)).toBe("−1.5");
});

test("exact values have no trailing zeros", () => {
  expect(["20.0%", "2.00 s", "$5.00", "10", "0.50%"].map(trimZeros)).toEqual([
    "20%",
    "2 s",
    "$5",
    "10",
    "0.50%",
  ]);
});

test("ids are cut in the middle", () => {
  expect(cutMiddle("4bf92f3577b34da6a3ce929d0e0e4736", 4)).toBe("4bf9…4736");
  expect(cutMiddle("short")).toBe("short");
});

test("times are relative to now", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  expect(formatAgo("2026-01-01T23:59:48Z", now)).toBe("12s ago");
  expect(formatAgo("2026-01-01T21:00:00Z", now)).toBe("3h ago");
});
