/** Two panes side by side with a separator that is moved by pointer or keyboard; stacked on phones. */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import { cx } from "./cx";

const MIN = 25;
const MAX = 75;
const STEP = 2;

interface Props {
  /** Identifies the remembered width. */
  name: string;
  /** What the separator resizes, for screen readers. */
  label: string;
  /** The width of the second pane in percent, unless one is remembered. */
  initial: number;
  first: ReactNode;
  second: ReactNode;
}

const clamp = (percent: number) => Math.min(MAX, Math.max(MIN, percent));

function useRemembered(name: string, initial: number): [number, (percent: number) => void] {
  const key = `spanwise.split.${name}`;
  const [percent, setPercent] = useState(() => {
    const stored = Number(localStorage.getItem(key));
    return stored ? clamp(stored) : initial;
  });
  const set = (next: number) => {
    setPercent(clamp(next));
    localStorage.setItem(key, String(clamp(next)));
  };
  return [percent, set];
}

export function SplitPane({ name, label, initial, first, second }: Props) {
  const [percent, setPercent] = useRemembered(name, initial);
  const frame = useRef<HTMLDivElement>(null);
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    const box = frame.current?.getBoundingClientRect();
    if (!box || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    setPercent(Math.round(((box.right - event.clientX) / box.width) * 1000) / 10);
  };
  const press = (event: KeyboardEvent) => {
    const moves: Record<string, number> = {
      ArrowLeft: percent + STEP,
      ArrowRight: percent - STEP,
      Home: MAX,
      End: MIN,
      Enter: initial,
    };
    const next = moves[event.key];
    if (next === undefined) return;
    // The page has shortcuts for these keys.
    event.preventDefault();
    setPercent(next);
  };
  return (
    <div
      ref={frame}
      style={{ "--split": `${percent}%` } as React.CSSProperties}
      className="grid h-full min-h-0 grid-cols-1 max-lg:grid-rows-[minmax(10rem,40%)_1fr] lg:grid-cols-[minmax(0,1fr)_auto_var(--split)]"
    >
      <div className="min-h-0 min-w-0">{first}</div>
      <div
        role="separator"
        aria-label={label}
        aria-orientation="vertical"
        aria-valuenow={Math.round(percent)}
        aria-valuemin={MIN}
        aria-valuemax={MAX}
        tabIndex={0}
        title="Drag to resize; double-click to reset"
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onDoubleClick={() => setPercent(initial)}
        onKeyDown={press}
        className={cx(
          "relative z-10 w-px cursor-col-resize touch-none bg-line select-none max-lg:hidden",
          "after:absolute after:inset-y-0 after:-left-1 after:w-2.25 hover:bg-accent focus-visible:bg-accent",
        )}
      />
      <div className="min-h-0 min-w-0 border-line max-lg:border-t">{second}</div>
    </div>
  );
}
