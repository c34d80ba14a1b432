/** The metric of a rule over time: value, threshold or baseline with band, and when it fired. */
import { useMemo } from "react";
import { displayOf } from "@/lib/alerts";
import type { Period } from "../chart/series";
import { TimeChart } from "../chart/TimeChart";
import {
  type Backtest,
  type DrawnRule,
  describeBlind,
  hourOf,
  toLevels,
  toSeries,
} from "./backtest";

const CHART_HEIGHT = 240;

interface Props {
  label: string;
  backtest: Backtest;
  rule: DrawnRule;
  periods: Period[];
}

export function BacktestChart({ label, backtest, rule, periods }: Props) {
  const { format } = displayOf(rule);
  const dates = useMemo(() => backtest.points.map((point) => hourOf(point.at)), [backtest]);
  const series = useMemo(() => toSeries(backtest, rule), [backtest, rule]);
  const levels = useMemo(() => toLevels(backtest, rule), [backtest, rule]);
  const blind = describeBlind(backtest, rule);
  return (
    <>
      <TimeChart
        label={label}
        dates={dates}
        granularity="hourly"
        series={series}
        format={format}
        levels={levels}
        periods={periods}
        height={CHART_HEIGHT}
      />
      {blind && <p className="mt-2 text-sm text-muted">{blind}</p>}
    </>
  );
}
