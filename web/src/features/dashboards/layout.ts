/** The order and the sizes of panels, which flow into a grid of twelve columns row by row. */
import type { Panel } from "@/lib/queryDraft";
import { CELL, COLUMNS, GAP } from "@/ui/query/panelSizes";

const MOST_ROWS = 24;

/** Moves the panel `from` in front of the panel `before`; the number of panels moves it to the end. */
export function movePanel(panels: Panel[], from: number, before: number): Panel[] {
  const panel = panels[from];
  if (!panel) return panels;
  return panels.toSpliced(from, 1).toSpliced(before > from ? before - 1 : before, 0, panel);
}

export type Size = Pick<Panel, "width" | "height">;

const clamp = (value: number, most: number) => Math.max(1, Math.min(most, Math.round(value)));

export function fitSize({ width, height }: Size): Size {
  return { width: clamp(width, COLUMNS), height: clamp(height, MOST_ROWS) };
}

/** The size of a panel whose corner was dragged. Medium screens draw panels wider than their width. */
export function dragSize(size: Size, drawnPx: number, dx: number, dy: number): Size {
  return fitSize({
    width: (size.width * (drawnPx + dx)) / drawnPx,
    height: size.height + dy / (CELL + GAP),
  });
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** In front of which panel a pointer is: of the one under it, or of the next from its middle on. */
export function placeAt(boxes: Box[], x: number, y: number): number | null {
  const index = boxes.findIndex(
    ({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom,
  );
  const box = boxes[index];
  if (!box) return null;
  return x > (box.left + box.right) / 2 ? index + 1 : index;
}
