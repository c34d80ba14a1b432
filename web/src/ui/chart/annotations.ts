/** What is drawn besides uPlot's series: marked periods, thresholds and the unfinished bucket. */
import uPlot from "uplot";
import { resolveColour } from "@/lib/colours";
import { type Point, placeLabel } from "./placeLabel";
import type { Level, Period } from "./series";

const PERIOD_ALPHA = 0.12;
const UNFINISHED_FADE = 0.6;
const DASH = [6, 3];
/** The height of a label with the space to its line. */
const LABEL_PX = 18;

export function drawPeriods(plot: uPlot, periods: Period[]) {
  const toSeconds = (moment: string | number) => new Date(moment).getTime() / 1000;
  for (const { from, to, colour } of periods) {
    fillColumn(plot, toSeconds(from), toSeconds(to), resolveColour(colour), PERIOD_ALPHA);
  }
}

/** Fades everything from a moment on: its bucket is still being filled. */
export function fadeFrom(plot: uPlot, from: number) {
  const { ctx } = plot;
  ctx.save();
  // The background shows through, whichever colour it has.
  ctx.globalCompositeOperation = "destination-out";
  fillColumn(plot, from, plot.scales.x?.max ?? from, "black", UNFINISHED_FADE);
  ctx.restore();
}

function fillColumn(plot: uPlot, from: number, to: number, colour: string, alpha: number) {
  const { ctx, bbox } = plot;
  const end = bbox.left + bbox.width;
  const left = Math.max(bbox.left, plot.valToPos(from, "x", true));
  const right = Math.min(end, plot.valToPos(to, "x", true));
  ctx.save();
  ctx.globalAlpha = alpha;
  ctx.fillStyle = colour;
  ctx.fillRect(left, bbox.top, Math.max(0, right - left), bbox.height);
  ctx.restore();
}

/** A line with its label at a place where the series leave room. */
export function drawLevels(plot: uPlot, levels: Level[], font: string) {
  if (levels.length === 0) return;
  const { ctx, bbox } = plot;
  const px = uPlot.pxRatio;
  const area = { left: bbox.left, top: bbox.top, right: bbox.left + bbox.width };
  const lines = pointsOf(plot);
  ctx.save();
  ctx.font = font;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  for (const { value, label, colour } of levels) {
    // A line between two pixels would be two pixels wide.
    const y = Math.round(plot.valToPos(value, "y", true)) + 0.5;
    ctx.lineWidth = px;
    ctx.setLineDash(DASH.map((part) => part * px));
    ctx.strokeStyle = resolveColour(colour);
    ctx.beginPath();
    ctx.moveTo(area.left, y);
    ctx.lineTo(area.right, y);
    ctx.stroke();
    if (!label) continue;
    const size = { width: ctx.measureText(label).width + 8 * px, height: LABEL_PX * px };
    const box = placeLabel(lines, y, size, { ...area, bottom: bbox.top + bbox.height });
    const [x, middle] = [box.left + 4 * px, (box.top + box.bottom) / 2];
    ctx.setLineDash([]);
    ctx.lineWidth = 3 * px;
    ctx.strokeStyle = resolveColour("var(--surface)");
    ctx.strokeText(label, x, middle);
    ctx.fillStyle = resolveColour("var(--muted)");
    ctx.fillText(label, x, middle);
  }
  ctx.restore();
}

function pointsOf({ data, valToPos }: uPlot): Point[][] {
  const [times = [], ...series] = data;
  return series.map((values) =>
    Array.from(times, (time, index) => {
      const value = values[index] ?? null;
      return value === null
        ? null
        : { x: valToPos(time, "x", true), y: valToPos(value, "y", true) };
    }),
  );
}
