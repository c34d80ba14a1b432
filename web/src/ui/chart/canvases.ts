/** Canvases of pages that were left: a chart that comes back unchanged need not be drawn again. */
import type { EChartsType } from "echarts/core";
import { init } from "@/lib/echarts";
import { session } from "@/lib/session";

const MOST_PARKED = 24;

export interface Canvas {
  element: HTMLElement;
  chart: EChartsType;
  /** What is on it, and how its values are written. */
  drawn?: string;
  format?: (value: number) => string;
}

const parked = new Map<string, Canvas>();

export function isParked(name: string): boolean {
  return parked.has(name);
}

/** Puts the canvas of this name into its place, as it was left, or a new one. */
export function takeCanvas(name: string, host: HTMLElement): Canvas {
  const known = parked.get(name);
  parked.delete(name);
  const element = known?.element ?? document.createElement("div");
  element.className = "absolute inset-0";
  host.append(element);
  return known ?? { element, chart: init(element) };
}

export function parkCanvas(name: string, canvas: Canvas) {
  canvas.element.remove();
  drop(name);
  // The next person must not be shown what the last one looked at.
  if (!session.token()) return canvas.chart.dispose();
  parked.set(name, canvas);
  for (const oldest of parked.keys()) if (parked.size > MOST_PARKED) drop(oldest);
}

function drop(name: string) {
  parked.get(name)?.chart.dispose();
  parked.delete(name);
}

session.subscribe(() => {
  if (!session.token()) for (const name of parked.keys()) drop(name);
});
