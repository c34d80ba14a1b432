/** A chart over time with its legend. */
import { useCallback, useMemo, useState } from "react";
import { Legend } from "./Legend";
import { Plot } from "./Plot";
import type { ChartInput } from "./series";

export { LEGEND_HEIGHT } from "./Legend";

interface Props extends ChartInput {
  /** The description for screen readers. */
  label: string;
  height?: number;
  hasLegend?: boolean;
  /**
   * Called with the date of the bucket that was clicked, and the name of the series there.
   * Dragging always selects the time range.
   */
  onPick?: (date: string, series?: string) => void;
}

export function TimeChart({ label, height = 180, hasLegend = true, onPick, ...rest }: Props) {
  const { dates, granularity, series, format, levels, periods } = rest;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((name: string) => {
    setHidden((before) => {
      const next = new Set(before);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  }, []);
  // The plot is recreated whenever this object changes.
  const input = useMemo(() => {
    const shown = series.filter((one) => !hidden.has(one.name));
    return { dates, granularity, series: shown, format, levels, periods };
  }, [dates, granularity, series, format, levels, periods, hidden]);
  return (
    <div>
      {hasLegend && <Legend series={series} hidden={hidden} onToggle={toggle} />}
      <Plot input={input} label={label} height={height} onPick={onPick} />
    </div>
  );
}
