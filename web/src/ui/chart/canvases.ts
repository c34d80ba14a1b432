/** Canvases of pages that were left: a chart that comes back unchanged need not be painted again. */
import { session } from "@/lib/session";
import { type ChartInput, type Layout, lastIsRunning } from "./layout";
import { paintChart } from "./paint";

const MOST_PARKED = 24;

export interface Canvas {
  element: HTMLCanvasElement;
  /** What is on it: where things stand, of what it was made, and how its values are written. */
  layout: Layout | null;
  painted?: string;
  format?: ChartInput["format"];
}

const parked = new Map<string, Canvas>();

/** Puts the canvas of this name into its place, as it was left, or a new one. */
export function takeCanvas(name: string, host: HTMLElement): Canvas {
  const known = parked.get(name);
  parked.delete(name);
  const canvas = known ?? { element: document.createElement("canvas"), layout: null };
  canvas.element.className = "absolute inset-0 size-full";
  host.append(canvas.element);
  return canvas;
}

/** Paints what is not on it yet. `look` is what decides the colours. */
export function updateCanvas(canvas: Canvas, input: ChartInput, look: unknown) {
  const { element } = canvas;
  const size = [element.clientWidth, element.clientHeight, window.devicePixelRatio];
  const isRunning = lastIsRunning(input.dates, input.granularity);
  const painted = JSON.stringify([size, isRunning, look, input]);
  if (painted === canvas.painted && input.format === canvas.format) return;
  canvas.layout = paintChart(element, input);
  canvas.painted = painted;
  canvas.format = input.format;
}

export function parkCanvas(name: string, canvas: Canvas) {
  canvas.element.remove();
  // The next person must not be shown what the last one looked at.
  if (!session.token()) return;
  parked.delete(name);
  parked.set(name, canvas);
  for (const oldest of parked.keys()) if (parked.size > MOST_PARKED) parked.delete(oldest);
}

session.subscribe(() => {
  if (!session.token()) parked.clear();
});
