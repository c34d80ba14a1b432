/** The result of a query as lines, areas, bars, numbers or a table, at a given height. */
import { type CSSProperties, useMemo } from "react";
import {
  axisFormat,
  type Chart,
  formatMeasure,
  groupName,
  measureOf,
  measureValue,
  type Query,
} from "@/lib/analyticsQuery";
import type { Granularity } from "@/lib/api";
import type { Behind } from "@/lib/behind";
import type { PanelResult } from "@/lib/runQuery";
import { LEGEND_HEIGHT, TimeChart } from "@/ui/chart/TimeChart";
import { BarList } from "../BarList";
import { Numbers } from "./Numbers";
import { buildCharts, describeShown, groupColours } from "./querySeries";
import { ResultTable } from "./ResultTable";

interface Props {
  title: string;
  chart: Chart;
  query: Query;
  result: PanelResult;
  granularity: Granularity | null;
  height: number;
  /** Opens what a point, bar or row consists of. */
  behind?: Behind | undefined;
}

export function QueryChart(props: Props) {
  const { chart, query, result, granularity, height, title } = props;
  if (result.rows.length === 0) return <NoRows of={query.of} height={height} />;
  if (chart === "table") {
    return (
      <div style={{ height }}>
        <ResultTable
          label={title}
          query={query}
          rows={result.rows}
          granularity={granularity}
          behind={props.behind}
        />
      </div>
    );
  }
  if (chart === "number") return <Numbers {...props} />;
  if (granularity === null) return <Bars {...props} />;
  return <TimeCharts {...props} granularity={granularity} chart={chart} />;
}

function NoRows({ of, height }: { of: Query["of"]; height: number }) {
  return (
    <p
      className="flex items-center justify-center text-center text-muted"
      style={{ minHeight: height }}
    >
      No {of} match in this period
    </p>
  );
}

const LEAST_PLOT = 90;
const NOTE_HEIGHT = 20;

function TimeCharts(
  props: Props & { granularity: Granularity; chart: Exclude<Chart, "table" | "number"> },
) {
  const { title, chart, query, result, granularity, height, behind } = props;
  const data = useMemo(() => buildCharts(result, query, chart), [result, query, chart]);
  const isSplit = data.charts.length > 1;
  const hasNote = data.charts.some(({ note }) => note);
  const around = LEGEND_HEIGHT + (isSplit ? NOTE_HEIGHT : 0) + (hasNote ? NOTE_HEIGHT : 0);
  const each = height / data.charts.length - around;
  return (
    <div className="overflow-y-auto overflow-x-hidden" style={{ height }}>
      {data.charts.map(({ unit, label, series, parts, note }) => (
        <div key={unit}>
          {isSplit && <h3 className="text-sm font-medium">{label}</h3>}
          <TimeChart
            label={`${title}: ${label} over time`}
            dates={data.dates}
            granularity={granularity}
            series={series}
            format={axisFormat(unit)}
            height={Math.max(LEAST_PLOT, Math.floor(each))}
            {...(behind && {
              onPick: (date: string, name?: string) => {
                const only = series.length === 1 ? series[0]?.name : undefined;
                const part = parts.get(name ?? only ?? "");
                behind.open({ ...part, step: { date, granularity } });
              },
            })}
          />
          {note && <p className="text-sm text-muted">{note}</p>}
        </div>
      ))}
    </div>
  );
}

/** One list of bars per measure, side by side. */
function Bars({ title, query, result, height, behind }: Props) {
  const groupBy = query.groupBy ?? [];
  const colours = groupColours(result, groupBy);
  const note = describeShown(query, result.rows.length, result.total, false);
  return (
    <div
      role="region"
      tabIndex={0}
      aria-label={title}
      // On phones, where lists are stacked, it grows with its rows.
      className="h-(--height) overflow-auto max-md:h-auto max-md:max-h-128 max-md:min-h-(--height)"
      style={{ "--height": `${height}px` } as CSSProperties}
    >
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,14rem),1fr))] content-start gap-x-6 gap-y-2">
        {query.measures.map((measure) => (
          <div key={measure} className="min-w-0">
            {query.measures.length > 1 && (
              <h3 className="text-sm text-muted">{measureOf(measure).label}</h3>
            )}
            <BarList
              bars={result.rows.flatMap((row, index) => {
                const name =
                  groupBy.length > 0 ? groupName(row, groupBy) : measureOf(measure).label;
                const value = measureValue(row, measure);
                if (value === null) return [];
                return {
                  key: `${index} ${name}`,
                  label: name,
                  value: Math.max(value, 0),
                  shown: formatMeasure(measure, value),
                  colour: colours[index],
                  ...(behind && { onClick: () => behind.open({ row, measure }) }),
                };
              })}
            />
          </div>
        ))}
      </div>
      {note && <p className="mt-1 text-sm text-muted">{note}</p>}
    </div>
  );
}
