import { type ReactNode, useCallback, useLayoutEffect, useRef, useState } from "react";
import { cx } from "./cx";

/** Scrolls wide content sideways, and fades the edges behind which there is more. */
export function ScrollX({ label, children }: { label: string; children: ReactNode }) {
  const box = useRef<HTMLElement>(null);
  const [more, setMore] = useState({ left: false, right: false });
  const measure = useCallback(() => {
    if (!box.current) return;
    const { scrollLeft, scrollWidth, clientWidth } = box.current;
    const left = scrollLeft > 1;
    const right = scrollLeft + clientWidth < scrollWidth - 1;
    setMore((before) =>
      before.left === left && before.right === right ? before : { left, right },
    );
  }, []);
  useLayoutEffect(() => {
    measure();
    if (!box.current || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(measure);
    // Its content can grow while its own size stays.
    for (const one of [box.current, ...box.current.children]) observer.observe(one);
    return () => observer.disconnect();
  }, [measure]);
  return (
    <section
      ref={box}
      aria-label={label}
      tabIndex={0}
      onScroll={measure}
      data-more={more.right || undefined}
      className={cx(
        "overflow-x-auto",
        more.left && "mask-l-from-[calc(100%-2rem)]",
        more.right && "mask-r-from-[calc(100%-2rem)]",
      )}
    >
      {children}
    </section>
  );
}
