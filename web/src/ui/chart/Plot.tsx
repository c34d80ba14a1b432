/** uPlot in React: creates the plot, keeps its size, and turns its events into actions. */
import { useLayoutEffect, useRef, useState } from "react";
import type uPlot from "uplot";
import { useColours } from "@/lib/colours";
import { bucketEnd, useSetRange } from "@/lib/range";
import { useIsDark } from "@/lib/theme";
import { useTimeZone } from "@/lib/timeZone";
import "uplot/dist/uPlot.min.css";
import { ChartTip } from "./ChartTip";
import { createPlot, type Handlers } from "./options";
import type { ChartInput } from "./series";
import { seriesAt } from "./stack";

interface Props {
  input: ChartInput;
  height: number;
  label: string;
  onPick?: ((date: string, series?: string) => void) | undefined;
}

export function Plot({ input, height, label, onPick }: Props) {
  const { dates, granularity } = input;
  const host = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<{ index: number; x: number } | null>(null);
  const isDark = useIsDark();
  const zone = useTimeZone();
  const colours = useColours();
  const { setCustom } = useSetRange();

  const cursorLeft = useRef(-1);
  const handlers = useRef<Handlers>(null);
  handlers.current = {
    onHover: setHover,
    onClick: (index, value, slot) => {
      const date = dates[index];
      if (date) onPick?.(date, seriesAt(input.series, index, value, slot));
    },
    onSelect: (first, last) => {
      const [from, to] = [dates[first], dates[last]];
      if (!from || !to) return;
      setCustom(new Date(from), new Date(Math.min(bucketEnd(to, granularity), Date.now())));
    },
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: theme and zone decide colours and labels
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    let plot: uPlot | undefined;
    // The first report comes before the first paint, when the size is known.
    const observer = new ResizeObserver(([entry]) => {
      const size = { width: entry?.contentRect.width ?? 0, height };
      if (plot) plot.setSize(size);
      else plot = createPlot(input, size, forwardTo(handlers), element, cursorLeft.current);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      cursorLeft.current = plot?.cursor.left ?? -1;
      plot?.destroy();
    };
  }, [input, height, isDark, colours, zone]);

  return (
    <div
      role="img"
      aria-label={label}
      className={`relative touch-pan-y ${onPick ? "cursor-pointer" : "cursor-crosshair"}`}
      style={{ height }}
    >
      <div ref={host} className="absolute inset-0" />
      {!hasValues(input) && (
        <p className="absolute inset-0 flex items-center justify-center text-muted">No data</p>
      )}
      {hover && <ChartTip {...input} {...hover} width={host.current?.clientWidth ?? 0} />}
    </div>
  );
}

/** Always calls the latest handlers, so that a new handler does not need a new plot. */
function forwardTo(latest: { current: Handlers | null }): Handlers {
  return {
    onHover: (hover) => latest.current?.onHover(hover),
    onClick: (index, value, slot) => latest.current?.onClick(index, value, slot),
    onSelect: (first, last) => latest.current?.onSelect(first, last),
  };
}

function hasValues({ series }: ChartInput): boolean {
  return series.length === 0 || series.some(({ values }) => values.some((one) => one !== null));
}
