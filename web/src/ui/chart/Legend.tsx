import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";
import { Dot } from "../Badge";
import { cx } from "../cx";
import type { Series } from "./series";

export const LEGEND_HEIGHT = 20;

interface Props {
  series: Pick<Series, "name" | "colour">[];
  hidden: ReadonlySet<string>;
  onToggle: (name: string) => void;
}

/** The names of the series; with more than one, a click hides or shows a series. Many scroll. */
export function Legend({ series, hidden, onToggle }: Props) {
  const isStatic = series.length < 2;
  const list = useRef<HTMLUListElement>(null);
  const [further, measure] = useFurther(list, series);
  const names = (
    <ul
      ref={list}
      onScroll={measure}
      className={cx(
        "flex min-w-0 flex-1 scroll-px-8 gap-x-3 overflow-x-auto [scrollbar-width:none]",
        further !== null && further > 0 && "mask-r-from-[calc(100%-2rem)]",
      )}
    >
      {series.map(({ name, colour }) => (
        <li key={name} title={name} className="flex max-w-48 shrink-0 items-center gap-1.5">
          {isStatic ? (
            <Entry name={name} colour={colour} />
          ) : (
            <button
              type="button"
              aria-pressed={!hidden.has(name)}
              onClick={() => onToggle(name)}
              className={cx(
                "flex min-w-0 items-center gap-1.5 hover:text-fg focus-visible:-outline-offset-2",
                hidden.has(name) && "text-faint line-through",
              )}
            >
              <Entry name={name} colour={hidden.has(name) ? "var(--line-strong)" : colour} />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
  return (
    <div className="flex gap-x-1 text-sm text-muted" style={{ height: LEGEND_HEIGHT }}>
      {names}
      {further !== null && (
        <button
          type="button"
          aria-label={further > 0 ? `Show ${further} more series` : "Back to the first series"}
          onClick={() => scrollOn(list.current, further)}
          className="shrink-0 px-1 hover:text-fg focus-visible:-outline-offset-2"
        >
          {further > 0 ? `+${further}` : "‹"}
        </button>
      )}
    </div>
  );
}

/** How many names are cut off at the end, null if all names fit. */
function useFurther(list: RefObject<HTMLUListElement | null>, series: Props["series"]) {
  const [further, setFurther] = useState<number | null>(null);
  const measure = useCallback(() => {
    const element = list.current;
    if (!element) return;
    const end = element.getBoundingClientRect().right + 1;
    const cut = [...element.children].filter((one) => one.getBoundingClientRect().right > end);
    setFurther(element.scrollWidth > element.clientWidth + 1 ? cut.length : null);
  }, [list]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other names have other widths
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    if (list.current) observer.observe(list.current);
    return () => observer.disconnect();
  }, [list, measure, series]);
  return [further, measure] as const;
}

function scrollOn(list: HTMLUListElement | null, further: number) {
  list?.scrollTo({ left: further > 0 ? list.scrollLeft + list.clientWidth - 64 : 0 });
}

function Entry({ name, colour }: { name: string; colour: string }) {
  return (
    <>
      <Dot colour={colour} />
      <span className="truncate">{name}</span>
    </>
  );
}
