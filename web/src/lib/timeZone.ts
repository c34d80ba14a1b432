/** The time zone in which times are shown and entered: that of the viewer, UTC or any other. */
import { useSyncExternalStore } from "react";

/** `local`, `utc` or a name such as `Europe/Berlin`. */
export type TimeZone = string;
const LOCAL = "local";
const UTC = "utc";
const KEY = "spanwise.timeZone";
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const listeners = new Set<() => void>();
/** The zone of the viewer, such as `Europe/Berlin`. */
export const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
let current = known(localStorage.getItem(KEY));

/** A zone that this browser knows; others are those of the viewer. */
function known(zone: string | null): TimeZone {
  if (!zone || zone === UTC) return zone ?? LOCAL;
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: zone });
    return zone;
  } catch {
    return LOCAL;
  }
}

export function getTimeZone(): TimeZone {
  return current;
}

export function setTimeZone(zone: TimeZone) {
  current = known(zone);
  if (current === LOCAL) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, current);
  for (const listener of listeners) listener();
}

export function useTimeZone(): TimeZone {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, getTimeZone);
}

/** The name by which `Intl` knows the chosen zone. */
export function zoneName(): string {
  if (current === UTC) return "UTC";
  return current === LOCAL ? LOCAL_ZONE : current;
}

/** All zones but UTC, which has another name. */
export function listZones(): string[] {
  return Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC");
}

/** Formats dates in the chosen zone. */
export function zonedFormat(options: Intl.DateTimeFormatOptions): (at: Date | number) => string {
  const formats = new Map<string, Intl.DateTimeFormat>();
  return (at) => {
    const timeZone = zoneName();
    const format =
      formats.get(timeZone) ?? new Intl.DateTimeFormat("en-GB", { ...options, timeZone });
    formats.set(timeZone, format);
    return format.format(at);
  };
}

const formatWall = zonedFormat({
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** What clocks in the chosen zone show, as if it were UTC, in whole seconds. */
function toWall(at: number): number {
  const [day = 0, month = 0, year = 0, ...time] = formatWall(at).split(/\D+/).map(Number);
  const [hour = 0, minute = 0, second = 0] = time;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The moment at which clocks in the chosen zone show a time. */
function fromWall(wall: number): number {
  const offsetAt = (at: number) => toWall(at) - Math.floor(at / 1000) * 1000;
  if (Number.isNaN(wall)) return wall;
  const guess = wall - offsetAt(wall);
  // The offset may change between the guess and the moment.
  const found = wall - offsetAt(guess);
  // Clocks skip the time in some nights of spring.
  return toWall(found) < wall ? guess : found;
}

/** The first moment of a day in the chosen zone, `days` before the one of `at`. */
export function startOfDay(at: number, days = 0): Date {
  const midnight = Math.floor(toWall(at) / DAY) * DAY;
  return new Date(fromWall(midnight - days * DAY));
}

/** Days since Monday in the chosen zone. */
export function dayOfWeek(at: number): number {
  return (new Date(toWall(at)).getUTCDay() + 6) % 7;
}

/** The value of a `datetime-local` field in the chosen zone. */
export function toField(date: Date): string {
  return new Date(toWall(date.getTime())).toISOString().slice(0, 16);
}

export function fromField(text: string): Date {
  return new Date(fromWall(Date.parse(`${text}Z`)));
}

/** The first moment of a day in a `date` field, or of the day after; undefined if it is not valid. */
export function fromDayField(day: string | undefined, isNext = false): Date | undefined {
  const at = fromField(`${day}T00:00`);
  if (!day || Number.isNaN(at.getTime())) return undefined;
  return isNext ? startOfDay(at.getTime(), -1) : at;
}
