/** The time zone in which times are shown and entered: that of the viewer, or UTC. */
import { useSyncExternalStore } from "react";

export type TimeZone = "local" | "utc";
const KEY = "spanwise.timeZone";
const listeners = new Set<() => void>();
let current: TimeZone = localStorage.getItem(KEY) === "utc" ? "utc" : "local";

export function getTimeZone(): TimeZone {
  return current;
}

export function setTimeZone(zone: TimeZone) {
  current = zone;
  if (zone === "utc") localStorage.setItem(KEY, zone);
  else localStorage.removeItem(KEY);
  for (const listener of listeners) listener();
}

export function useTimeZone(): TimeZone {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, getTimeZone);
}

/** Formats dates in the chosen zone. */
export function zonedFormat(options: Intl.DateTimeFormatOptions): (at: Date | number) => string {
  const local = new Intl.DateTimeFormat("en-GB", options);
  const utc = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
  return (at) => (current === "utc" ? utc : local).format(at);
}

/** The first moment of a day in the chosen zone, `days` before the one of `at`. */
export function startOfDay(at: number, days = 0): Date {
  const date = new Date(at);
  if (current === "utc") {
    return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() - days));
  }
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - days);
}

/** Days since Monday in the chosen zone. */
export function dayOfWeek(at: number): number {
  const date = new Date(at);
  return ((current === "utc" ? date.getUTCDay() : date.getDay()) + 6) % 7;
}

/** The value of a `datetime-local` field in the chosen zone. */
export function toField(date: Date): string {
  const offset = current === "utc" ? 0 : date.getTimezoneOffset() * 60_000;
  return new Date(date.getTime() - offset).toISOString().slice(0, 16);
}

export function fromField(text: string): Date {
  return new Date(current === "utc" ? `${text}Z` : text);
}

/** The first moment of a day in a `date` field, or of the day after; undefined if it is not valid. */
export function fromDayField(day: string | undefined, isNext = false): Date | undefined {
  const at = fromField(`${day}T00:00`);
  if (!day || Number.isNaN(at.getTime())) return undefined;
  return isNext ? startOfDay(at.getTime(), -1) : at;
}
