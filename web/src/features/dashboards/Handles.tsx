/** Moves and resizes a panel with the pointer or the arrow keys. */
import { GripVertical } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { dragSize, fitSize, placeAt, type Size } from "./layout";

/** Closer to an edge of the page than this, it scrolls. */
const EDGE_PX = 60;
const SCROLL_PX = 16;

interface MoveProps {
  title: string;
  index: number;
  /** Called while dragging with the place under the pointer, and with null at the end. */
  onTarget: (before: number | null) => void;
  onMove: (before: number) => void;
}

export function MoveHandle({ title, index, onTarget, onMove }: MoveProps) {
  const target = useRef<number | null>(null);
  const drag = (event: PointerEvent<HTMLElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const grid = event.currentTarget.closest("[data-grid]");
    const boxes = [...(grid?.children ?? [])].map((one) => one.getBoundingClientRect());
    target.current = placeAt(boxes, event.clientX, event.clientY) ?? target.current;
    onTarget(target.current);
    scrollAtEdge(event);
  };
  const drop = () => {
    if (target.current !== null) onMove(target.current);
    target.current = null;
    onTarget(null);
  };
  const cancel = () => {
    target.current = null;
    onTarget(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowLeft" || event.key === "ArrowUp") onMove(Math.max(0, index - 1));
    else if (event.key === "ArrowRight" || event.key === "ArrowDown") onMove(index + 2);
    else if (event.key === "Escape") cancel();
    else return;
    event.preventDefault();
  };
  return (
    <button
      type="button"
      aria-label={`Move ${title}`}
      title="Drag to move, or press an arrow key"
      onPointerDown={capture}
      onPointerMove={drag}
      onPointerUp={drop}
      onPointerCancel={cancel}
      onKeyDown={onKeyDown}
      className="-mr-2 flex h-7 w-6 cursor-grab touch-none items-center justify-center rounded-md text-muted hover:bg-hover active:cursor-grabbing"
    >
      <GripVertical className="size-4" aria-hidden />
    </button>
  );
}

interface ResizeProps {
  title: string;
  size: Size;
  onResize: (size: Size) => void;
}

export function ResizeHandle({ title, size, onResize }: ResizeProps) {
  const start = useRef({ x: 0, y: 0, px: 1, size });
  const begin = (event: PointerEvent<HTMLElement>) => {
    capture(event);
    const px = event.currentTarget.closest("[data-grid] > *")?.clientWidth ?? 1;
    start.current = { x: event.clientX, y: event.clientY, px, size };
  };
  const resize = (next: Size) => {
    if (next.width !== size.width || next.height !== size.height) onResize(next);
  };
  const drag = (event: PointerEvent<HTMLElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { x, y, px, size: before } = start.current;
    resize(dragSize(before, px, event.clientX - x, event.clientY - y));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const [dx, dy] = STEPS[event.key] ?? [0, 0];
    if (dx === 0 && dy === 0) return;
    event.preventDefault();
    resize(fitSize({ width: size.width + dx, height: size.height + dy }));
  };
  return (
    <button
      type="button"
      aria-label={`Resize ${title}`}
      title="Drag to resize, or press an arrow key"
      onPointerDown={begin}
      onPointerMove={drag}
      onKeyDown={onKeyDown}
      className="absolute right-0 bottom-0 size-5 cursor-nwse-resize touch-none rounded-br-lg border-line-strong after:absolute after:right-1 after:bottom-1 after:size-2 after:border-r-2 after:border-b-2 after:border-line-strong hover:after:border-accent"
    />
  );
}

const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function capture(event: PointerEvent<HTMLElement>) {
  // Otherwise the text of other panels is selected.
  event.preventDefault();
  event.currentTarget.focus();
  event.currentTarget.setPointerCapture(event.pointerId);
}

function scrollAtEdge(event: PointerEvent<HTMLElement>) {
  const page = event.currentTarget.closest("[data-scroller]");
  if (!page) return;
  const { top, bottom } = page.getBoundingClientRect();
  if (event.clientY < top + EDGE_PX) page.scrollBy(0, -SCROLL_PX);
  if (event.clientY > bottom - EDGE_PX) page.scrollBy(0, SCROLL_PX);
}
