/** Formats numbers and times consistently on every page. */
import { zonedFormat } from "./timeZone";

const counts = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const NONE = "–";
/** A hyphen is shorter than the plus sign beside it. */
const MINUS = "−";

type Maybe = number | null | undefined;

function isMissing(value: Maybe): value is null | undefined {
  return value === null || value === undefined || !Number.isFinite(value);
}

/** "trace not found" as the beginning of a sentence. */
export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** 12,345 */
export function formatCount(value: Maybe): string {
  if (isMissing(value)) return NONE;
  return value < 0 ? MINUS + formatCount(-value) : counts.format(value);
}

/** 1 trace, 12,345 traces */
export function formatCounted(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}

function trim(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$/, "");
}

/** 999, 1.2k, 34k, 5.6M */
export function formatCompact(value: Maybe): string {
  if (isMissing(value)) return NONE;
  if (value < 0) return MINUS + formatCompact(-value);
  for (const [unit, size] of [
    ["G", 1e9],
    ["M", 1e6],
    ["k", 1e3],
  ] as const) {
    // A value that would round up to 1000 uses the next unit.
    if (value >= size * 0.9995) {
      const scaled = value / size;
      return `${trim(scaled, scaled < 99.5 ? 1 : 0)}${unit}`;
    }
  }
  return trim(value, value < 10 && value % 1 !== 0 ? 2 : 0);
}

/** 0.4 ms, 812 ms, 1.24 s, 1m, 2m 03s, 1h 05m */
export function formatDuration(ms: Maybe): string {
  if (isMissing(ms)) return NONE;
  if (ms < 0) return MINUS + formatDuration(-ms);
  if (ms < 9.95) return `${trim(ms, ms < 0.095 ? 2 : 1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (hours === 0) return joinUnits(minutes, "m", seconds % 60, "s");
  if (hours < 48) return joinUnits(hours, "h", minutes % 60, "m");
  return joinUnits(Math.floor(hours / 24), "d", hours % 24, "h");
}

function joinUnits(large: number, unit: string, small: number, smallUnit: string): string {
  const rest = small === 0 ? "" : ` ${String(small).padStart(2, "0")}${smallUnit}`;
  return `${large}${unit}${rest}`;
}

/** $0, $0.0042, $0.31, $12.31, $12.3k */
export function formatCost(usd: Maybe): string {
  if (isMissing(usd)) return NONE;
  if (usd < 0) return MINUS + formatCost(-usd);
  if (usd === 0) return "$0";
  if (usd >= 9_999.5) return `$${formatCompact(usd)}`;
  if (usd >= 0.995) return `$${usd.toLocaleString("en-US", fraction(2))}`;
  if (usd >= 0.0995) return `$${usd.toFixed(2)}`;
  if (usd >= 0.001) return `$${usd.toFixed(4)}`;
  if (usd < 0.0000005) return "< $0.000001";
  return `$${usd.toFixed(6).replace(/0+$/, "")}`;
}

function fraction(digits: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: digits, maximumFractionDigits: digits };
}

/** A ratio as 98.2%; small ones keep two digits. */
export function formatPercent(ratio: Maybe): string {
  if (isMissing(ratio)) return NONE;
  if (ratio < 0) return MINUS + formatPercent(-ratio);
  const percent = ratio * 100;
  const digits = percent === 0 || percent === 100 ? 0 : percent < 1 ? 2 : 1;
  const shown = percent.toFixed(digits);
  // 99.97 must not look like all of them.
  return percent < 100 && Number(shown) === 100 ? "99.9%" : `${shown}%`;
}

/** Change against an earlier value as +12.3%; null if it cannot be compared. */
export function formatChange(now: Maybe, before: Maybe): string | null {
  if (isMissing(now) || isMissing(before) || before === 0) return null;
  const percent = ((now - before) / Math.abs(before)) * 100;
  if (Math.abs(percent) < 0.05) return "±0%";
  // Against a tiny value the exact percentage is meaningless.
  if (percent > 999) return ">999%";
  const digits = Math.abs(percent) < 99.5 ? 1 : 0;
  const shown = formatCountWith(Math.abs(percent), digits);
  return `${percent > 0 ? "+" : MINUS}${shown}%`;
}

/** The difference of two rates in percentage points: +1.2 pts; a percentage would be ambiguous. */
export function formatPoints(difference: Maybe): string {
  if (isMissing(difference)) return NONE;
  const points = Math.abs(difference * 100);
  const shown = points.toFixed(points < 1 ? 2 : 1);
  if (Number(shown) === 0) return "±0 pts";
  return `${difference > 0 ? "+" : MINUS}${shown} pts`;
}

/** An exact value, such as a threshold or a tick, needs no trailing zeros: 20%, not 20.0%. */
export function trimZeros(shown: string): string {
  return shown.replace(/\.0+(?=[\s%]|$)/, "");
}

function formatCountWith(value: number, digits: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

export function formatBytes(bytes: Maybe): string {
  if (isMissing(bytes)) return NONE;
  for (const [unit, size] of [
    ["GB", 2 ** 30],
    ["MB", 2 ** 20],
    ["kB", 2 ** 10],
  ] as const) {
    if (bytes >= size) return `${trim(bytes / size, bytes / size < 10 ? 1 : 0)} ${unit}`;
  }
  return `${bytes} B`;
}

/** Any number with up to four significant digits. */
export function formatNumber(value: Maybe): string {
  if (isMissing(value)) return NONE;
  if (value < 0) return MINUS + formatNumber(-value);
  if (Number.isInteger(value)) return formatCount(value);
  return value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
}

const formatFull = zonedFormat({
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const formatShort = zonedFormat({
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const formatPrecise = zonedFormat({
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** 14 Nov 2026, 09:03:12 in the chosen time zone. */
export function formatDateTime(at: string | Date): string {
  return formatFull(new Date(at));
}

/** 14 Nov, 09:03 in the chosen time zone. */
export function formatShortTime(at: string | Date): string {
  return formatShort(new Date(at));
}

/** 14 Nov, 09:03:12 in the chosen time zone. */
export function formatPreciseTime(at: string | Date): string {
  return formatPrecise(new Date(at));
}

/** 12s ago, 5m ago, 3h ago, 2d ago, then the date. */
export function formatAgo(at: string | Date, now: number = Date.now()): string {
  const seconds = Math.round((now - new Date(at).getTime()) / 1000);
  if (seconds < -5) return formatShortTime(at);
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`;
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)}d ago`;
  return formatShortTime(at);
}

/** Shortens an id to both ends: 4bf9…4736. */
export function cutMiddle(text: string, ends = 6): string {
  return text.length <= ends * 2 + 1 ? text : `${text.slice(0, ends)}…${text.slice(-ends)}`;
}
