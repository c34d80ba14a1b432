/** Paints a chart that is laid out. Colours are resolved, because a canvas knows no variables. */
import { resolveColour } from "@/lib/colours";
import { type ChartInput, type Layer, type Layout, layOut } from "./layout";

const UNFINISHED = 0.4;
const MANY_BARS = 60;
const WIDEST_BAR = 36;
const LINE_WIDTH = 1.5;
const DASH = [6, 3];
/** Above a level for what it is called. */
const LEVEL_ROOM = 6;
const FONT = `11px ${getComputedStyle(document.body).fontFamily}`;

type Context = CanvasRenderingContext2D;

export function paintChart(canvas: HTMLCanvasElement, input: ChartInput): Layout | null {
  const context = canvas.getContext("2d");
  if (!context) return null;
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = window.devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  context.scale(scale, scale);
  context.font = FONT;
  const layout = layOut(input, width, height, (text) => context.measureText(text).width);
  paintAxes(context, layout);
  for (const layer of layout.layers) paintLayer(context, layout, layer);
  paintStretches(context, layout);
  paintLevels(context, layout, input);
  return layout;
}

function paintAxes(context: Context, { left, right, bottom, xLabels, yLabels }: Layout) {
  context.strokeStyle = resolveColour("var(--line)");
  context.fillStyle = resolveColour("var(--muted)");
  context.lineWidth = 1;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.beginPath();
  for (const { y, text } of yLabels) {
    // Between two pixels a line would be two pixels wide.
    context.moveTo(left, Math.round(y) + 0.5);
    context.lineTo(right, Math.round(y) + 0.5);
    context.fillText(text, left - 8, y);
  }
  context.stroke();
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const { x, text } of xLabels) context.fillText(text, x, bottom + 8);
}

function paintLayer(context: Context, layout: Layout, layer: Layer) {
  const colour = resolveColour(layer.colour);
  context.save();
  context.fillStyle = colour;
  context.strokeStyle = colour;
  if (layer.type === "bar") paintBars(context, layout, layer);
  else paintLine(context, layout, layer);
  context.restore();
}

function paintBars(context: Context, layout: Layout, { bases, tops }: Layer) {
  const { band, xOf, yOf, isRunning } = layout;
  const width = Math.min(WIDEST_BAR, band * (tops.length > MANY_BARS ? 0.96 : 0.78));
  tops.forEach((top, index) => {
    const y = yOf(top ?? 0);
    const base = yOf(top === null ? 0 : (bases[index] ?? 0));
    if (isRunning && index === tops.length - 1) context.globalAlpha = UNFINISHED;
    context.fillRect(xOf(index) - width / 2, y, width, base - y);
  });
}

function paintLine(context: Context, layout: Layout, layer: Layer) {
  const { tops, stack, type, isDashed } = layer;
  const end = layout.isRunning && !stack ? tops.length - 1 : tops.length;
  const runs = findRuns(tops.slice(0, end));
  if (type === "area") for (const run of runs) fillBelow(context, layout, layer, run);
  context.lineWidth = LINE_WIDTH;
  context.lineJoin = "round";
  context.setLineDash(isDashed ? DASH : []);
  context.beginPath();
  for (const run of runs) trace(context, layout, tops, run);
  context.stroke();
  context.setLineDash([]);
  for (const [first, last] of runs) if (first === last) paintDot(context, layout, tops, first);
  if (end === tops.length) return;
  const unfinished = findRuns(tops).find(([, last]) => last === end);
  if (!unfinished) return;
  context.globalAlpha = UNFINISHED + 0.2;
  if (unfinished[0] === end) return paintDot(context, layout, tops, end);
  context.setLineDash(DASH);
  context.beginPath();
  trace(context, layout, tops, [end - 1, end]);
  context.stroke();
}

/** The stretches without a gap, by their first and last point. */
export function findRuns(values: (number | null)[]): [number, number][] {
  const runs: [number, number][] = [];
  values.forEach((value, index) => {
    if (value === null) return;
    const run = runs.at(-1);
    if (run && run[1] === index - 1) run[1] = index;
    else runs.push([index, index]);
  });
  return runs;
}

function trace(
  context: Context,
  { xOf, yOf }: Layout,
  values: (number | null)[],
  [first, last]: [number, number],
) {
  context.moveTo(xOf(first), yOf(values[first] ?? 0));
  for (let index = first + 1; index <= last; index++) {
    context.lineTo(xOf(index), yOf(values[index] ?? 0));
  }
}

/** A single point between two gaps would be invisible without its dot. */
function paintDot(
  context: Context,
  { xOf, yOf }: Layout,
  values: (number | null)[],
  index: number,
) {
  context.beginPath();
  context.arc(xOf(index), yOf(values[index] ?? 0), 2, 0, 2 * Math.PI);
  context.fill();
}

function fillBelow(context: Context, layout: Layout, layer: Layer, run: [number, number]) {
  context.globalAlpha = layer.stack ? 0.75 : 0.14;
  context.beginPath();
  trace(context, layout, layer.tops, run);
  for (let index = run[1]; index >= run[0]; index--) {
    context.lineTo(layout.xOf(index), layout.yOf(layer.bases[index] ?? 0));
  }
  context.fill();
  context.globalAlpha = 1;
}

function paintStretches(context: Context, { stretches, xOf, band, top, bottom }: Layout) {
  context.save();
  context.globalAlpha = 0.12;
  for (const { first, last, colour } of stretches) {
    context.fillStyle = resolveColour(colour);
    const from = xOf(first) - band / 2;
    context.fillRect(from, top, xOf(last) + band / 2 - from, bottom - top);
  }
  context.restore();
}

function paintLevels(context: Context, { left, right, top, yOf }: Layout, { levels }: ChartInput) {
  context.textAlign = "right";
  context.fillStyle = resolveColour("var(--muted)");
  context.lineWidth = 1;
  context.setLineDash(DASH);
  for (const { value, label, colour } of levels ?? []) {
    const y = Math.round(yOf(value)) + 0.5;
    context.strokeStyle = resolveColour(colour);
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.stroke();
    const isAtTop = y < top + LEVEL_ROOM;
    context.textBaseline = isAtTop ? "top" : "bottom";
    context.fillText(label, right - 4, isAtTop ? y + 3 : y - 3);
  }
}
