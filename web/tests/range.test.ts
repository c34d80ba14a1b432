import { describe, expect, it } from "vitest";
import { autoGranularity, earlierRange, laterRange, readRange } from "@/lib/range";

const NOW = Date.parse("2026-11-18T12:00:30Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function custom(from: string, to: string) {
  return readRange({ from: `2026-11-18T${from}Z`, to: `2026-11-18T${to}Z` }, NOW);
}

describe("the range after", () => {
  it.each(["15m", "1h", "7d", "today", "week"])("does not exist for %s, ever", (range) => {
    const read = readRange({ range }, NOW);
    expect(laterRange(read, NOW)).toBeNull();
    expect(laterRange(read, NOW + 3 * HOUR)).toBeNull();
  });

  it("has the same length", () => {
    const later = laterRange(custom("02:00:00", "04:00:00"), NOW);
    expect(later?.from.toISOString()).toBe("2026-11-18T04:00:00.000Z");
    expect(later?.to.toISOString()).toBe("2026-11-18T06:00:00.000Z");
  });

  it("ends now at the latest", () => {
    const later = laterRange(custom("08:00:00", "11:00:00"), NOW);
    expect(later?.to.getTime()).toBe(NOW);
    expect(later?.from.getTime()).toBe(NOW - 3 * HOUR);
    expect(laterRange(custom("08:00:00", "12:00:10"), NOW)).toBeNull();
    expect(laterRange(custom("08:00:00", "14:00:00"), NOW)).toBeNull();
  });

  it("follows on from yesterday", () => {
    const later = laterRange(readRange({ range: "yesterday" }, NOW), NOW);
    expect(later?.to.getTime()).toBeLessThanOrEqual(NOW);
  });
});

it("steps back by the length of the range", () => {
  const earlier = earlierRange(custom("08:00:00", "11:00:00"));
  expect(earlier.from.toISOString()).toBe("2026-11-18T05:00:00.000Z");
  expect(earlier.to.toISOString()).toBe("2026-11-18T08:00:00.000Z");
});

it("shows the last 15 minutes by minute", () => {
  const range = readRange({ range: "15m" }, NOW);
  expect(range).toMatchObject({ label: "Last 15 minutes", preset: "15m", problem: null });
  expect(range.to.getTime() - range.from.getTime()).toBe(15 * MINUTE);
  expect(autoGranularity(range)).toBe("1m");
});
