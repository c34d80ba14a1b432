/** The lift and its interval per day. */
import { useMemo } from "react";
import { coloursOf } from "@/lib/colours";
import type { Series } from "@/ui/chart/series";
import { TimeChart } from "@/ui/chart/TimeChart";
import { Panel } from "@/ui/Panel";
import { type Experiment, formatLift, type MetricResult, metricLabel } from "./labels";

const ZERO = [{ value: 0, label: "", colour: "var(--fg)" }];

export function OverTime({ experiment, metric }: { experiment: Experiment; metric: MetricResult }) {
  const dates = useMemo(() => metric.trend.map((point) => point.date), [metric]);
  const series = useMemo(() => toSeries(metric), [metric]);
  const label = metricLabel(experiment.metrics.find((one) => one.key === metric.key));
  return (
    <Panel title="Over time" unit={`lift of ${label.toLowerCase()} with its interval, cumulative`}>
      {dates.length < 2 ? (
        <p className="py-10 text-center text-muted">The trend appears after two days.</p>
      ) : (
        <TimeChart
          label={`Lift of ${label} with its interval, day by day`}
          dates={dates}
          granularity="daily"
          series={series}
          format={formatLift}
          levels={ZERO}
          hasLegend={metric.variants.length > 2}
          height={220}
        />
      )}
    </Panel>
  );
}

function toSeries(metric: MetricResult): Series[] {
  const isOnly = metric.variants.length === 2;
  const tested = metric.variants.slice(1);
  const colours = coloursOf(
    "variant",
    tested.map(({ variant }) => variant),
  );
  return tested.flatMap(({ variant }, index) => {
    const points = metric.trend.map((point) =>
      point.variants.find((one) => one.variant === variant),
    );
    const colour = isOnly ? "var(--accent)" : (colours[index] ?? "");
    return [
      { name: variant, colour, values: points.map((point) => clip(point?.lift)) },
      {
        name: `${variant}, upper`,
        colour,
        isDashed: true,
        values: points.map((point) => clip(point?.liftCi?.upper)),
      },
      {
        name: `${variant}, lower`,
        colour,
        isDashed: true,
        values: points.map((point) => clip(point?.liftCi?.lower)),
      },
    ];
  });
}

/** Leaves out the very wide intervals of the first days, which would flatten the rest. */
function clip(value: number | null | undefined): number | null {
  return value === null || value === undefined || Math.abs(value) > 1 ? null : value;
}
