/** The grid of panels, in pixels, and how wide panels are on it. */
import type { Panel } from "@/lib/queryDraft";

export const COLUMNS = 12;
export const CELL = 64;
export const GAP = 12;

/** Panels are twice as wide on medium screens; the last one of each row fills it. */
export function mediumWidths(panels: Panel[]): number[] {
  const widths = panels.map(({ width }) => Math.min(COLUMNS, width * 2));
  let used = 0;
  widths.forEach((width, index) => {
    used += width;
    if (used + (widths[index + 1] ?? COLUMNS) <= COLUMNS) return;
    widths[index] = width + COLUMNS - used;
    used = 0;
  });
  return widths;
}
