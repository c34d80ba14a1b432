/** What the chart of a rule draws: lines, levels and marked periods. */
import { type AlertRule, displayOf, formatMinutes, isRate, samplesOf } from "@/lib/alerts";
import type { Schemas } from "@/lib/api";
import { formatCount, formatCounted, formatPercent, trimZeros } from "@/lib/format";
import type { Level, Period, Series } from "../chart/series";

export type Backtest = Schemas["RuleBacktest"];
/** What the chart shows of a rule; an alert has it too. */
export type DrawnRule = Pick<
  AlertRule,
  | "metric"
  | "measure"
  | "of"
  | "signalName"
  | "condition"
  | "threshold"
  | "minSamples"
  | "windowMinutes"
> & { baseline?: number | null };

const HOUR = 3_600_000;
const DAYS = 14;

/**
 * What the values of a backtest depend on, except for the window. The result of one subject must not
 * be drawn under the name and unit of another.
 */
export function subjectOf({ metric, measure, of, signalName, filters, condition }: AlertRule) {
  return JSON.stringify([metric, measure, of, signalName, filters, condition]);
}

/** "would have fired 121 times, 9 a day" */
export function describeFired(fired: number): string {
  if (fired === 0) return "would not have fired";
  const times = fired === 1 ? "once" : `${formatCount(fired)} times`;
  const daily = Math.round(fired / DAYS);
  return `would have fired ${times}${daily > 1 ? `, ${formatCount(daily)} a day` : ""}`;
}

/** The samples that a window needs; unusual values of few samples are too noisy, as the service sees it. */
function fewestSamples({ minSamples, condition, metric, measure }: DrawnRule): number {
  if (condition !== "anomaly" || isRate({ metric, measure })) return minSamples;
  const isHigh = metric === "p95Latency" || measure === "p95" || measure === "p99";
  return Math.max(minSamples, isHigh ? 20 : 10);
}

/** When a rule could not be evaluated: "Blind 59% of the time: fewer than 10 traces in 15 min". */
export function describeBlind({ skipped, windows }: Backtest, rule: DrawnRule): string | null {
  if (skipped === 0) return null;
  const share = trimZeros(formatPercent(skipped / windows));
  const least = fewestSamples(rule);
  const few =
    least > 1 ? `fewer than ${formatCounted(least, samplesOf(rule))}` : `no ${samplesOf(rule)}s`;
  return `Blind ${share} of the time: ${few} in ${formatMinutes(rule.windowMinutes)}`;
}

/** A marked period; one that is shorter than a point of the chart is drawn as long. */
export function toPeriod(from: string, to: string, colour: string): Period {
  return { from, to: Math.max(new Date(to).getTime(), new Date(from).getTime() + HOUR), colour };
}

export function hourOf(at: string): string {
  return new Date(Math.floor(new Date(at).getTime() / HOUR) * HOUR).toISOString();
}

/** The threshold; of an anomaly whose history is gone, the baseline at the time. */
export function toLevels(backtest: Backtest, rule: DrawnRule): Level[] {
  const { format } = displayOf(rule);
  if (rule.threshold != null) {
    const label = trimZeros(format(rule.threshold));
    return [{ value: rule.threshold, label, colour: "var(--bad)" }];
  }
  if (rule.baseline == null || backtest.points.some((point) => point.baseline !== null)) return [];
  const label = `usually ${format(rule.baseline)}`;
  return [{ value: rule.baseline, label, colour: "var(--muted)" }];
}

export function toSeries(backtest: Backtest, rule: DrawnRule): Series[] {
  const name = rule.metric === "signal" ? (rule.signalName ?? "signal") : displayOf(rule).label;
  const series: Series[] = [
    { name, colour: "var(--measure-1)", values: backtest.points.map((point) => point.value) },
  ];
  if (rule.condition !== "anomaly") return series;
  const line = (label: string, colour: string, key: "baseline" | "upper" | "lower") => {
    const values = backtest.points.map((point) => point[key]);
    if (values.some((value) => value !== null)) {
      series.push({ name: label, colour, values, isDashed: true });
    }
  };
  line("baseline", "var(--muted)", "baseline");
  line("upper bound", "var(--warning)", "upper");
  line("lower bound", "var(--warning)", "lower");
  return series;
}
