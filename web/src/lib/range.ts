/** The time range of the page, kept in the URL: a preset up to now, or two dates. */
import { useMemo, useSyncExternalStore } from "react";
import type { Granularity } from "./api";
import { formatShortTime } from "./format";
import { dayOfWeek, startOfDay, useTimeZone } from "./timeZone";
import { type Search, stringifySearch, useSetUrl, useUrl } from "./url";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const PRESETS = {
  "15m": { label: "Last 15 minutes", ms: 15 * MINUTE },
  "1h": { label: "Last hour", ms: HOUR },
  "6h": { label: "Last 6 hours", ms: 6 * HOUR },
  "24h": { label: "Last 24 hours", ms: DAY },
  "3d": { label: "Last 3 days", ms: 3 * DAY },
  "7d": { label: "Last 7 days", ms: 7 * DAY },
  "14d": { label: "Last 14 days", ms: 14 * DAY },
  "30d": { label: "Last 30 days", ms: 30 * DAY },
  "90d": { label: "Last 90 days", ms: 90 * DAY },
} as const;
/** Ranges that begin at midnight in the chosen time zone. */
export const CALENDAR = {
  today: { label: "Today" },
  yesterday: { label: "Yesterday" },
  week: { label: "This week" },
} as const;
export type Preset = keyof typeof PRESETS | keyof typeof CALENDAR;
export const DEFAULT_PRESET: Preset = "7d";

/** URL parameters that are kept when the page changes. */
export const GLOBAL_KEYS = ["ws", "range", "from", "to", "env", "agent", "refresh"] as const;

/** The kept parameters as a query string, for plain links. */
export function useKeptSearch(): string {
  const url = useUrl();
  return stringifySearch(Object.fromEntries(GLOBAL_KEYS.map((key) => [key, url[key]])));
}

export interface Range {
  from: Date;
  to: Date;
  label: string;
  preset: Preset | null;
  /** Why the URL is invalid, if it is. */
  problem: string | null;
}

let now = Date.now();
const listeners = new Set<() => void>();

/** Moves "now" forward, so that pages with a preset reload. */
export function tick() {
  now = Date.now();
  for (const listener of listeners) listener();
}

export function useNow(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => now,
  );
}

export function readRange(search: Search, at: number): Range {
  if (search.from || search.to) return readCustom(search, at);
  const preset = search.range ?? DEFAULT_PRESET;
  // Up to the end of the minute, so that the latest trace is included.
  const to = new Date(Math.ceil((at + 1) / MINUTE) * MINUTE);
  if (preset in CALENDAR) return readCalendar(preset as keyof typeof CALENDAR, at, to);
  const known = PRESETS[preset as keyof typeof PRESETS];
  if (!known) return fallback(at, `Unknown time range "${search.range}"`);
  // Ranges of a day or more start at a full hour, so that the first bucket is complete and the
  // service can answer from its rollup.
  const step = known.ms >= DAY ? HOUR : MINUTE;
  const from = new Date(Math.floor((to.getTime() - known.ms) / step) * step);
  return { from, to, label: known.label, preset: preset as Preset, problem: null };
}

function readCalendar(preset: keyof typeof CALENDAR, at: number, now: Date): Range {
  const days = { today: 0, yesterday: 1, week: dayOfWeek(at) }[preset];
  const from = startOfDay(at, days);
  const to = preset === "yesterday" ? startOfDay(at) : now;
  return { from, to, label: CALENDAR[preset].label, preset, problem: null };
}

function readCustom(search: Search, at: number): Range {
  const from = new Date(search.from ?? Number.NaN);
  const to = search.to ? new Date(search.to) : new Date(at);
  if (Number.isNaN(from.getTime())) return fallback(at, `"${search.from ?? ""}" is not a date`);
  if (Number.isNaN(to.getTime())) return fallback(at, `"${search.to}" is not a date`);
  if (from >= to) return fallback(at, "The range ends before it starts");
  const label = `${formatShortTime(from)} – ${formatShortTime(to)}`;
  return { from, to, label, preset: null, problem: null };
}

function fallback(at: number, problem: string): Range {
  return { ...readRange({}, at), problem };
}

/** The range of a URL at the current "now". */
export function currentRange(search: Search): Range {
  return readRange(search, now);
}

export function useRange(): Range {
  const { range, from, to } = useUrl();
  const at = useNow();
  const zone = useTimeZone();
  // biome-ignore lint/correctness/useExhaustiveDependencies: days and labels depend on the zone
  return useMemo(() => readRange({ range, from, to }, at), [range, from, to, at, zone]);
}

/** The range before, of the same length. */
export function earlierRange({ from, to }: Pick<Range, "from" | "to">): { from: Date; to: Date } {
  return { from: new Date(2 * from.getTime() - to.getTime()), to: from };
}

/** The range after, of the same length, that ends now at the latest; null if this one does. */
export function laterRange(range: Range, at: number): { from: Date; to: Date } | null {
  const [from, to] = [range.from.getTime(), range.to.getTime()];
  // A preset stays as it was when the page was loaded, but means "up to now".
  if ((range.preset && range.preset !== "yesterday") || to > at - MINUTE) return null;
  const end = Math.min(2 * to - from, at);
  return { from: new Date(end - (to - from)), to: new Date(end) };
}

/** The dates of the range as query parameters. */
export function rangeQuery(range: Pick<Range, "from" | "to">): {
  startDate: string;
  endDate: string;
} {
  return { startDate: range.from.toISOString(), endDate: range.to.toISOString() };
}

/** Range, environment and agent as query parameters, for requests that take all three. */
export function filterQuery({ env, agent }: Search, range: Range) {
  return { ...rangeQuery(range), environment: env, agentId: agent };
}
export type FilterQuery = ReturnType<typeof filterQuery>;

export function useFilterQuery(): FilterQuery {
  const range = useRange();
  const { env, agent } = useUrl();
  return useMemo(() => filterQuery({ env, agent }, range), [range, env, agent]);
}

export function useSetRange() {
  const setUrl = useSetUrl();
  return {
    setPreset: (preset: Preset) =>
      setUrl(
        { range: preset === DEFAULT_PRESET ? undefined : preset, from: undefined, to: undefined },
        { push: true },
      ),
    setCustom: (from: Date, to: Date) =>
      setUrl({ range: undefined, from: from.toISOString(), to: to.toISOString() }, { push: true }),
  };
}

/** The length of buckets that are shorter than a day; these are shown in the chosen time zone. */
const SHORT_BUCKETS: Partial<Record<Granularity, number>> = {
  "1m": MINUTE,
  "5m": 5 * MINUTE,
  "15m": 15 * MINUTE,
  hourly: HOUR,
};

export function isShorterThanDay(granularity: Granularity): boolean {
  return SHORT_BUCKETS[granularity] !== undefined;
}

/** A granularity with a readable number of buckets. */
export function autoGranularity(range: Range): Granularity {
  const hours = (range.to.getTime() - range.from.getTime()) / HOUR;
  if (hours <= 3) return "1m";
  if (hours <= 12) return "5m";
  if (hours <= 36) return "15m";
  if (hours <= 180) return "hourly";
  if (hours <= 120 * 24) return "daily";
  return hours <= 730 * 24 ? "weekly" : "monthly";
}

export function bucketEnd(date: string, granularity: Granularity): number {
  const start = new Date(date);
  const short = SHORT_BUCKETS[granularity];
  if (short) return start.getTime() + short;
  if (granularity === "monthly") {
    return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
  }
  return start.getTime() + (granularity === "weekly" ? 7 * DAY : DAY);
}
