import type uPlot from "uplot";

/**
 * Builds lines and areas that end at gaps. uPlot's own builder draws across gaps and clips them
 * away, which leaves slivers of steep lines at their edges.
 */
export const buildLines: uPlot.Series.PathBuilder = (plot, seriesIndex, first, last) => {
  const times = plot.data[0] ?? [];
  const values = plot.data[seriesIndex] ?? [];
  const stroke = new Path2D();
  const fill = new Path2D();
  const zeroY = plot.valToPos(0, "y", true);
  let lastX: number | null = null;
  for (let index = first; index <= last; index++) {
    const value = values[index] ?? null;
    if (value === null) {
      if (lastX !== null) fill.lineTo(lastX, zeroY);
      lastX = null;
      continue;
    }
    const x = plot.valToPos(times[index] ?? 0, "x", true);
    const y = plot.valToPos(value, "y", true);
    if (lastX === null) {
      stroke.moveTo(x, y);
      fill.moveTo(x, zeroY);
    } else {
      stroke.lineTo(x, y);
    }
    fill.lineTo(x, y);
    lastX = x;
  }
  if (lastX !== null) fill.lineTo(lastX, zeroY);
  return { stroke, fill };
};
