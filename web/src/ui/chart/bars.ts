/** Bars of several series beside each other, for values that do not add up. */
import uPlot from "uplot";

/** The share of a bucket that its bars take. */
const FILLED = 0.8;
export const MAX_BAR_PX = 36;

/** One of several series of bars, from the left. */
export interface Slot {
  index: number;
  count: number;
  bucketSeconds: number;
}

/** The width of a bar in canvas pixels. */
function barWidth(plot: uPlot, { count, bucketSeconds }: Omit<Slot, "index">): number {
  const start = plot.scales.x?.min ?? 0;
  const bucket = plot.valToPos(start + bucketSeconds, "x", true) - plot.valToPos(start, "x", true);
  return Math.min((bucket * FILLED) / count, MAX_BAR_PX * uPlot.pxRatio);
}

export function buildBars(slot: Slot): uPlot.Series.PathBuilder {
  return (plot, seriesIndex, first, last) => {
    const [times = [], values = []] = [plot.data[0], plot.data[seriesIndex]];
    const fill = new Path2D();
    const zero = plot.valToPos(0, "y", true);
    const width = barWidth(plot, slot);
    const gap = width > 4 * uPlot.pxRatio ? uPlot.pxRatio : 0;
    for (let index = first; index <= last; index++) {
      const value = values[index] ?? null;
      if (value === null) continue;
      const centre = plot.valToPos(times[index] ?? 0, "x", true);
      const top = plot.valToPos(value, "y", true);
      const left = centre + (slot.index - slot.count / 2) * width;
      fill.rect(left, Math.min(top, zero), width - gap, Math.abs(zero - top));
    }
    return { stroke: fill, fill };
  };
}

/** Which of the bars of a bucket is at a distance from its centre, in CSS pixels. */
export function slotAt(plot: uPlot, of: Omit<Slot, "index">, distance: number): number {
  const width = barWidth(plot, of) / uPlot.pxRatio;
  const at = Math.floor(distance / width + of.count / 2);
  return Math.min(of.count - 1, Math.max(0, at));
}
