import { afterEach, expect, test } from "vitest";
import { fromDayField, fromField, setTimeZone } from "@/lib/timeZone";

afterEach(() => setTimeZone("local"));

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

test("a time is in the chosen zone", () => {
  setTimeZone("utc");
  expect(fromField("2026-11-19T10:00").toISOString()).toBe("2026-11-19T10:00:00.000Z");
});
