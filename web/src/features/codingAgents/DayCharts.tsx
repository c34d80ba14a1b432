/** Cost and tokens by day. */
import { useMemo } from "react";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost } from "@/lib/format";
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
        days.map((day) => day.costByAgent),
        colourOf,
      ).map((series) => ({ ...series, type: "bar", stack: "cost" })),
    [days],
  );
  const tokens = useMemo<Series[]>(
    () =>
      (
        [
          ["cached input", "var(--series-2)", (day) => day.cachedTokens],
          ["other input", "var(--series-0)", (day) => day.inputTokens - day.cachedTokens],
          ["output", "var(--series-4)", (day) => day.outputTokens],
        ] as [string, string, (day: Report["days"][number]) => number][]
      ).map(([name, colour, value]) => ({
        name,
        colour,
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
