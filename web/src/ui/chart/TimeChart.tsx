/** A chart over time: legend, then the canvas. */
import { useMemo } from "react";
import type { Granularity } from "@/lib/api";
import { Dot } from "../Badge";
import { ChartCanvas } from "./ChartCanvas";
import type { Level, Series, Stretch } from "./series";

export const LEGEND_HEIGHT = 20;

interface Props {
  /** What a screen reader hears. */
  label: string;
  dates: string[];
  granularity: Granularity;
  series: Series[];
  format: (value: number) => string;
  height?: number;
  hasLegend?: boolean;
  levels?: Level[];
  stretches?: Stretch[];
  /** A click on a point; without it clicks do nothing. Dragging always selects the range. */
  onPick?: (date: string) => void;
}

export function TimeChart({ height = 180, hasLegend = true, ...rest }: Props) {
  const { label, dates, granularity, series, format, levels, stretches, onPick } = rest;
  // The canvas draws anew when its input is another object.
  const input = useMemo(
    () => ({ dates, granularity, series, format, levels, stretches }),
    [dates, granularity, series, format, levels, stretches],
  );
  return (
    <div>
      {hasLegend && <Legend series={series} />}
      <ChartCanvas key={label} input={input} label={label} height={height} onPick={onPick} />
    </div>
  );
}

export function Legend({ series }: { series: Pick<Series, "name" | "colour">[] }) {
  return (
    <ul
      className="flex gap-x-3 overflow-hidden text-sm text-muted"
      style={{ height: LEGEND_HEIGHT }}
    >
      {series.map((one) => (
        <li key={one.name} title={one.name} className="flex min-w-0 items-center gap-1.5">
          <Dot colour={one.colour} />
          <span className="truncate">{one.name}</span>
        </li>
      ))}
    </ul>
  );
}
