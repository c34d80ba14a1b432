/** What the chart of a rule draws: lines, levels and marked periods. */
import { type AlertRule, displayOf } from "@/lib/alerts";
import type { Schemas } from "@/lib/api";
import { trimZeros } from "@/lib/format";
import type { Level, Period, Series } from "../chart/series";

export type Backtest = Schemas["RuleBacktest"];
/** What the chart shows of a rule; an alert has it too. */
export type DrawnRule = Pick<
  AlertRule,
  "metric" | "measure" | "of" | "signalName" | "condition" | "threshold"
> & { baseline?: number | null };

const HOUR = 3_600_000;

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
    { name, colour: "var(--accent)", values: backtest.points.map((point) => point.value) },
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
