/** Cost and tokens by day. */
import { useMemo } from "react";
import { formatCompact, formatCost } from "@/lib/format";
import { SERIES, type SeriesStyle } from "@/lib/series";
import { type Series, topSeries } from "@/ui/chart/series";
import { TimeChart } from "@/ui/chart/TimeChart";
import { Panel } from "@/ui/Panel";
import type { Report } from "./CodingAgentsPage";

const HEIGHT = 190;

export function DayCharts({ report }: { report: Report }) {
  const { days } = report;
  const dates = useMemo(() => days.map((day) => day.date), [days]);
  const cost = useMemo<Series[]>(
    () =>
      topSeries(
        "agent",
        days.map((day) => day.costByAgent),
      ).map((series) => ({
        ...series,
        type: "bar",
        stack: "cost",
      })),
    [days],
  );
  const tokens = useMemo<Series[]>(
    () =>
      (
        [
          [SERIES.input, (day) => day.inputTokens - day.cachedTokens],
          [SERIES.cachedInput, (day) => day.cachedTokens],
          [SERIES.output, (day) => day.outputTokens],
        ] as [SeriesStyle, (day: Report["days"][number]) => number][]
      ).map(([style, value]) => ({
        ...style,
        type: "bar",
        stack: "tokens",
        values: days.map(value),
      })),
    [days],
  );
  return (
    <>
      <Panel title="Cost" unit="USD per day">
        <TimeChart
          label="Cost by agent and day"
          dates={dates}
          granularity="daily"
          series={cost}
          format={formatCost}
          height={HEIGHT}
        />
      </Panel>
      <Panel title="Tokens" unit="per day">
        <TimeChart
          label="Tokens by day"
          dates={dates}
          granularity="daily"
          series={tokens}
          format={formatCompact}
          height={HEIGHT}
        />
      </Panel>
    </>
  );
}
