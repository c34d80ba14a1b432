import { afterEach, describe, expect, it, test } from "vitest";
import { formatShortTime } from "@/lib/format";
import {
  dayOfWeek,
  fromDayField,
  fromField,
  getTimeZone,
  listZones,
  setTimeZone,
  startOfDay,
  toField,
} from "@/lib/timeZone";

afterEach(() => setTimeZone("local"));

const utc = (text: string) => Date.parse(`${text}Z`);
const startIn = (zone: string, at: string, days = 0) => {
  setTimeZone(zone);
  return startOfDay(utc(at), days).toISOString();
};

describe("a day", () => {
  it("begins at midnight of the chosen zone", () => {
    expect(startIn("Asia/Tokyo", "2026-05-04T16:00")).toBe("2026-05-04T15:00:00.000Z");
    expect(startIn("America/New_York", "2026-05-04T02:00")).toBe("2026-05-03T04:00:00.000Z");
    expect(startIn("Asia/Kathmandu", "2026-05-04T00:00", 1)).toBe("2026-05-02T18:15:00.000Z");
    expect(startIn("utc", "2026-05-04T23:59")).toBe("2026-05-04T00:00:00.000Z");
  });

  it("begins at its own offset when clocks change", () => {
    expect(startIn("Europe/Berlin", "2026-03-29T12:00")).toBe("2026-03-28T23:00:00.000Z");
    expect(startIn("Europe/Berlin", "2026-03-30T12:00")).toBe("2026-03-29T22:00:00.000Z");
    expect(startIn("Europe/Berlin", "2026-10-26T12:00", 1)).toBe("2026-10-24T22:00:00.000Z");
  });

  it("begins when clocks go on, if they skip midnight", () => {
    expect(startIn("Asia/Beirut", "2026-03-29T12:00")).toBe("2026-03-28T22:00:00.000Z");
  });

  it("has the weekday of the chosen zone", () => {
    const at = utc("2026-05-03T23:30");
    setTimeZone("utc");
    expect(dayOfWeek(at)).toBe(6);
    setTimeZone("Europe/Berlin");
    expect(dayOfWeek(at)).toBe(0);
  });
});

test("times are shown and entered in the chosen zone", () => {
  setTimeZone("Asia/Tokyo");
  const at = new Date("2026-05-04T16:30:00Z");
  expect(toField(at)).toBe("2026-05-05T01:30");
  expect(fromField("2026-05-05T01:30")).toEqual(at);
  expect(formatShortTime(at)).toContain("01:30");
  expect(fromField("").getTime()).toBeNaN();
});

test("a chosen zone is remembered, and an unknown one is that of the viewer", () => {
  setTimeZone("Asia/Tokyo");
  expect(localStorage.getItem("spanwise.timeZone")).toBe("Asia/Tokyo");
  setTimeZone("Mars/Olympus");
  expect(getTimeZone()).toBe("local");
  expect(localStorage.getItem("spanwise.timeZone")).toBeNull();
  expect(listZones()).toContain("Europe/Berlin");
});

test("a day begins and ends at midnight of the chosen zone", () => {
  setTimeZone("utc");
  expect(fromDayField("2026-11-19")?.toISOString()).toBe("2026-11-19T00:00:00.000Z");
  expect(fromDayField("2026-11-30", true)?.toISOString()).toBe("2026-12-01T00:00:00.000Z");
  setTimeZone("local");
  expect(fromDayField("2026-11-19")).toEqual(new Date(2026, 10, 19));
  expect(fromDayField("2026-11-30", true)).toEqual(new Date(2026, 11, 1));
});

test("text that is no day is no moment", () => {
  expect(fromDayField("")).toBeUndefined();
  expect(fromDayField(undefined)).toBeUndefined();
  expect(fromDayField("tomorrow")).toBeUndefined();
});
