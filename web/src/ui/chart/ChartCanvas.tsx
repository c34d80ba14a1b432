/** The canvas, the crosshair that all charts share, dragging for a range, clicking for a point. */
import {
  type PointerEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useColours } from "@/lib/colours";
import { whenIdle } from "@/lib/idle";
import { bucketEnd, useSetRange } from "@/lib/range";
import { useIsDark } from "@/lib/theme";
import { ChartTip } from "./ChartTip";
import { type Canvas, isParked, parkCanvas, takeCanvas } from "./canvases";
import { hover } from "./hover";
import { buildOption, type ChartInput } from "./option";

const DRAG_PX = 6;

interface Props {
  input: ChartInput;
  height: number;
  label: string;
  onPick?: ((date: string) => void) | undefined;
}

/** True at once for what is in sight or parked, and for all else when nobody waits for more. */
function useMayDraw(element: RefObject<HTMLElement | null>, name: string): boolean {
  const [mayDraw, setMayDraw] = useState(() => isParked(name));
  useLayoutEffect(() => {
    if (mayDraw) return;
    const top = element.current?.getBoundingClientRect().top ?? 0;
    if (top < window.innerHeight) setMayDraw(true);
    else whenIdle(() => setMayDraw(true));
  }, [element, mayDraw]);
  return mayDraw;
}

export default function ChartCanvas({ input, height, label, onPick }: Props) {
  const { dates, granularity } = input;
  const host = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const [canvas, setCanvas] = useState<Canvas | null>(null);
  const [width, setWidth] = useState(0);
  const [tip, setTip] = useState<{ index: number; x: number } | null>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const mayDraw = useMayDraw(host, label);
  const isDark = useIsDark();
  const colours = useColours();
  const { setCustom } = useSetRange();
  const chart = canvas?.chart;

  // Before the page is painted: what was parked is there at once.
  useLayoutEffect(() => {
    if (!host.current || !mayDraw) return;
    const taken = takeCanvas(label, host.current);
    const { chart: made, element } = taken;
    setCanvas(taken);
    setWidth(made.getWidth());
    const observer = new ResizeObserver(() => {
      // It reports once at the beginning, and a chart of the same size would be drawn twice.
      if (made.getWidth() === element.clientWidth && made.getHeight() === element.clientHeight)
        return;
      made.resize();
      setWidth(made.getWidth());
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      parkCanvas(label, taken);
    };
  }, [mayDraw, label]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: theme and names decide the colours
  useLayoutEffect(() => {
    if (!canvas || width === 0) return;
    const option = dates.length > 0 ? buildOption(input, width) : {};
    const drawn = JSON.stringify([granularity, width, option]);
    if (drawn === canvas.drawn && input.format === canvas.format) return;
    canvas.chart.setOption(option, true);
    canvas.drawn = drawn;
    canvas.format = input.format;
  }, [canvas, width, isDark, colours, input]);

  useEffect(
    () =>
      hover.subscribe((date) => {
        const index = date === null ? -1 : dates.indexOf(date);
        if (!line.current) return;
        line.current.hidden = index < 0;
        const x = chart?.convertToPixel({ xAxisIndex: 0 }, index);
        line.current.style.transform = `translateX(${Math.round(Number(x))}px)`;
      }),
    [chart, dates],
  );

  const xOf = (event: PointerEvent) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  const indexOf = (x: number) => {
    const raw = Math.round(Number(chart?.convertFromPixel({ xAxisIndex: 0 }, x)));
    return Math.max(0, Math.min(dates.length - 1, raw));
  };
  const onMove = (event: PointerEvent) => {
    if (!chart || dates.length === 0) return;
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
      <div ref={host} className="pointer-events-none absolute inset-0" />
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
      {tip && <ChartTip {...input} index={tip.index} x={tip.x} width={width} />}
    </div>
  );
}
