/** The canvas, the crosshair that all charts share, dragging for a range, clicking for a point. */
import { type PointerEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useColours } from "@/lib/colours";
import { bucketEnd, useSetRange } from "@/lib/range";
import { useIsDark } from "@/lib/theme";
import { ChartTip } from "./ChartTip";
import { type Canvas, parkCanvas, takeCanvas, updateCanvas } from "./canvases";
import { hover } from "./hover";
import type { ChartInput } from "./layout";

const DRAG_PX = 6;

interface Props {
  input: ChartInput;
  height: number;
  label: string;
  onPick?: ((date: string) => void) | undefined;
}

export function ChartCanvas({ input, height, label, onPick }: Props) {
  const { dates, granularity } = input;
  const host = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas>(null);
  const [tip, setTip] = useState<{ index: number; x: number } | null>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const isDark = useIsDark();
  const colours = useColours();
  const { setCustom } = useSetRange();

  useLayoutEffect(() => {
    if (!host.current) return;
    const taken = takeCanvas(label, host.current);
    canvas.current = taken;
    return () => parkCanvas(label, taken);
  }, [label]);

  useLayoutEffect(() => {
    const taken = canvas.current;
    if (!taken) return;
    // It reports at the beginning too, when the page is laid out and not painted yet.
    const observer = new ResizeObserver(() => updateCanvas(taken, input, [isDark, colours]));
    observer.observe(taken.element);
    return () => observer.disconnect();
  }, [input, isDark, colours]);

  useEffect(
    () =>
      hover.subscribe((date) => {
        const index = date === null ? -1 : dates.indexOf(date);
        if (!line.current) return;
        line.current.hidden = index < 0;
        const x = canvas.current?.layout?.xOf(index) ?? 0;
        line.current.style.transform = `translateX(${Math.round(x)}px)`;
      }),
    [dates],
  );

  const xOf = (event: PointerEvent) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  const indexOf = (x: number) => canvas.current?.layout?.indexAt(x) ?? 0;
  const onMove = (event: PointerEvent) => {
    if (dates.length === 0) return;
    const x = xOf(event);
    if (drag) setDrag({ ...drag, to: x });
    const index = indexOf(x);
    hover.set(dates[index] ?? null);
    setTip({ index, x });
  };
  const onUp = (event: PointerEvent) => {
    if (!drag) return;
    setDrag(null);
    const x = xOf(event);
    const [left, right] = [indexOf(Math.min(drag.from, x)), indexOf(Math.max(drag.from, x))];
    const [first, last] = [dates[left], dates[right]];
    if (!first || !last) return;
    if (Math.abs(x - drag.from) >= DRAG_PX) {
      const end = Math.min(bucketEnd(last, granularity), Date.now());
      setCustom(new Date(first), new Date(end));
    } else {
      onPick?.(last);
    }
  };
  const leave = () => {
    hover.set(null);
    setTip(null);
  };

  return (
    <div
      role="img"
      aria-label={label}
      className={`relative touch-pan-y select-none ${onPick ? "cursor-pointer" : "cursor-crosshair"}`}
      style={{ height }}
      onPointerMove={onMove}
      onPointerLeave={leave}
      onPointerDown={(event) => {
        if (event.button !== 0 || event.pointerType === "touch") return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: xOf(event), to: xOf(event) });
      }}
      onPointerUp={onUp}
    >
      <div ref={host} className="absolute inset-0" />
      <div
        ref={line}
        hidden
        className="pointer-events-none absolute inset-y-0 left-0 w-px bg-muted"
      />
      {drag && Math.abs(drag.to - drag.from) >= DRAG_PX && (
        <div
          className="pointer-events-none absolute inset-y-0 bg-accent opacity-20"
          style={{ left: Math.min(drag.from, drag.to), width: Math.abs(drag.to - drag.from) }}
        />
      )}
      {tip && <ChartTip {...input} {...tip} width={canvas.current?.layout?.width ?? 0} />}
    </div>
  );
}
