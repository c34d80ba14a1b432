/** A chart over time: legend, then the canvas, which is loaded when the first chart is shown. */
import type { UseQueryResult } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import type { Granularity } from "@/lib/api";
import { Dot } from "../Badge";
import { ErrorState, Skeleton } from "../states";
import type { Level, Series, Stretch } from "./series";

// Asked for at once, beside the data, not after it.
const loading = import("./ChartCanvas");
const ChartCanvas = lazy(() => loading);

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
  /** The top of the axis, for rates that end at 1. */
  max?: number;
  /** A click on a point; without it clicks do nothing. Dragging always selects the range. */
  onPick?: (date: string) => void;
}

export function TimeChart({ height = 180, hasLegend = true, ...rest }: Props) {
  const { label, dates, granularity, series, format, levels, stretches, max, onPick } = rest;
  // The canvas draws anew when its input is another object.
  const input = useMemo(
    () => ({ dates, granularity, series, format, levels, stretches, max }),
    [dates, granularity, series, format, levels, stretches, max],
  );
  return (
    <div>
      {hasLegend && <Legend series={series} />}
      <Suspense
        fallback={
          <div style={{ height }}>
            <Skeleton className="h-full" />
          </div>
        }
      >
        <ChartCanvas key={label} input={input} label={label} height={height} onPick={onPick} />
      </Suspense>
    </div>
  );
}

interface AnswerProps {
  question: UseQueryResult<unknown>;
  height: number;
  /** The chart, without points as long as there is no answer. */
  children: ReactNode;
}

/** Like `Answer`, for a chart: its canvas is made while the answer is on its way. */
export function ChartAnswer({ question, height, children }: AnswerProps) {
  const { data, error, refetch } = question;
  if (error && data === undefined)
    return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <div className="relative" style={{ minHeight: height }}>
      {children}
      {data === undefined && <Skeleton className="absolute inset-0" />}
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
