/** What is drawn besides uPlot's series: marked periods, thresholds and the unfinished bucket. */
import uPlot from "uplot";
import { resolveColour } from "@/lib/colours";
import type { Level, Period } from "./series";

const PERIOD_ALPHA = 0.12;
const UNFINISHED_FADE = 0.6;
const DASH = [6, 3];

export function drawPeriods(plot: uPlot, periods: Period[]) {
  const toSeconds = (moment: string | number) => new Date(moment).getTime() / 1000;
  for (const { from, to, colour } of periods) {
    fillColumn(plot, toSeconds(from), toSeconds(to), resolveColour(colour), PERIOD_ALPHA);
  }
}

/** Fades everything from a moment on: its bucket is still being filled. */
export function fadeFrom(plot: uPlot, from: number) {
  fillColumn(
    plot,
    from,
    plot.scales.x?.max ?? from,
    resolveColour("var(--surface)"),
    UNFINISHED_FADE,
  );
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

export function drawLevels(plot: uPlot, levels: Level[], font: string) {
  const { ctx, bbox } = plot;
  const px = uPlot.pxRatio;
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.font = font;
  ctx.textAlign = "right";
  ctx.lineWidth = px;
  ctx.setLineDash(DASH.map((part) => part * px));
  ctx.fillStyle = resolveColour("var(--muted)");
  for (const { value, label, colour } of levels) {
    // A line between two pixels would be two pixels wide.
    const y = Math.round(plot.valToPos(value, "y", true)) + 0.5;
    ctx.strokeStyle = resolveColour(colour);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(right, y);
    ctx.stroke();
    const isAtTop = y < bbox.top + 16 * px;
    ctx.textBaseline = isAtTop ? "top" : "bottom";
    ctx.fillText(label, right - 4 * px, y + (isAtTop ? 3 : -3) * px);
  }
  ctx.restore();
}
