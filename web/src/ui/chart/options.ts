/** Translates a chart's input into uPlot's options and data. */
import uPlot from "uplot";
import { resolveColour } from "@/lib/colours";
import { bucketEnd, isShorterThanDay } from "@/lib/range";
import { LOCAL_ZONE, zoneName } from "@/lib/timeZone";
import { drawLevels, drawPeriods, fadeFrom } from "./annotations";
import { buildBars, MAX_BAR_PX, type Slot, slotAt } from "./bars";
import { buildLines } from "./lines";
import { axisLabel, type ChartInput } from "./series";
import { findBesides, findLonePoints, type Layer, stackSeries } from "./stack";
import { tickLabels, tickSteps } from "./ticks";

const MANY_BARS = 60;
const AREA_PERCENT = 14;
const DRAG_PX = 6;
const FONT_PX = 11;
const AXIS_GAP_PX = 8;

export interface Handlers {
  /** Called with the bucket under the pointer, and with null when the pointer leaves. */
  onHover: (hover: { index: number; x: number } | null) => void;
  onSelect: (first: number, last: number) => void;
  /** Called with the bucket and the value under the pointer, and with which bar beside others. */
  onClick: (index: number, value: number, slot: number) => void;
}

/** `cursorLeft` restores the crosshair of the plot that this one replaces. */
export function createPlot(
  input: ChartInput,
  size: { width: number; height: number },
  handlers: Handlers,
  host: HTMLElement,
  cursorLeft: number,
): uPlot {
  const layers = stackSeries(input.series);
  // Areas that lie over each other stay as light as one.
  const shade = Math.max(2, Math.round(AREA_PERCENT / layers.length));
  const times = input.dates.map((date) => new Date(date).getTime() / 1000);
  const options: uPlot.Options = {
    ...size,
    padding: [10, 16, 0, 6],
    legend: { show: false },
    // Days, weeks and months are grouped by UTC, shorter buckets are shown in the chosen time zone.
    tzDate: (seconds) => {
      const date = new Date(seconds * 1000);
      const zone = isShorterThanDay(input.granularity) ? zoneName() : "UTC";
      return zone === LOCAL_ZONE ? date : uPlot.tzDate(date, zone);
    },
    series: [{}, ...layers.map((layer) => toSeries(layer, shade, slotOf(layer, input, times)))],
    scales: toScales(input, times),
    axes: toAxes(input),
    cursor: toCursor(layers),
    hooks: toHooks(input, times, handlers, host, cursorLeft),
  };
  return new uPlot(options, [times, ...layers.map((layer) => layer.tops)], host);
}

/** The place of a series among bars that stand beside each other. */
function slotOf({ name }: Layer, input: ChartInput, times: number[]): Slot | null {
  const bars = findBesides(input.series);
  const index = bars.findIndex((one) => one.name === name);
  if (index < 0 || bars.length === 1) return null;
  return { index, count: bars.length, bucketSeconds: firstBucketSeconds(input, times) };
}

function toSeries(layer: Layer, shade: number, slot: Slot | null): uPlot.Series {
  const colour = resolveColour(layer.colour);
  if (slot) {
    return { paths: buildBars(slot), fill: colour, width: 0, points: { show: false } };
  }
  if (layer.type === "bar") {
    const paths = uPlot.paths.bars?.({
      size: [layer.values.length > MANY_BARS ? 0.96 : 0.78, MAX_BAR_PX],
      disp: {
        y0: { unit: 1, values: () => layer.bases },
        y1: { unit: 1, values: () => layer.tops },
      },
    });
    return { paths, fill: colour, width: 0, points: { show: false } };
  }
  const area = `color-mix(in srgb, ${layer.colour} ${shade}%, transparent)`;
  return {
    paths: buildLines,
    stroke: colour,
    width: 1.5,
    ...(layer.isDashed && { dash: [6, 3] }),
    ...(layer.type === "area" && { fill: resolveColour(area) }),
    points: { show: true, filter: () => findLonePoints(layer.tops), size: 4, fill: colour },
  };
}

function toScales(input: ChartInput, times: number[]): uPlot.Scales {
  const half = lastBucketSeconds(input, times) / 2;
  const levels = (input.levels ?? []).map((level) => level.value);
  return {
    x: { time: true, range: [(times[0] ?? 0) - half, (times.at(-1) ?? 1) + half] },
    y: {
      range: (_, dataMin, dataMax) => {
        const least = Math.min(0, dataMin ?? 0, ...levels);
        const most = Math.max(0, dataMax ?? 0, ...levels) || (least < 0 ? 0 : 1);
        const pad = (value: number) => ({ pad: value === 0 ? 0 : 0.05 });
        return uPlot.rangeNum(least, most, { min: pad(least), max: pad(most) });
      },
    },
  };
}

function toAxes({ granularity, format }: ChartInput): uPlot.Axis[] {
  const look: uPlot.Axis = {
    font: font(1),
    stroke: resolveColour("var(--muted)"),
    gap: AXIS_GAP_PX,
    ticks: { show: false },
  };
  const widest = (plot: uPlot, texts: string[]) => {
    plot.ctx.font = font(uPlot.pxRatio);
    const widths = texts.map((text) => plot.ctx.measureText(text).width / uPlot.pxRatio);
    return Math.ceil(Math.max(0, ...widths));
  };
  return [
    {
      ...look,
      size: 22,
      space: 70,
      grid: { show: false },
      values: (_, times) =>
        times.map((time) => axisLabel(new Date(time * 1000).toISOString(), granularity)),
    },
    {
      ...look,
      size: (plot, texts) => widest(plot, texts ?? []) + AXIS_GAP_PX,
      space: 30,
      incrs: tickSteps(format),
      grid: { stroke: resolveColour("var(--line)"), width: 1 },
      values: (_, ticks, _axis, _space, step) => tickLabels(format, ticks, step),
    },
  ];
}

function toCursor(layers: Layer[]): uPlot.Cursor {
  return {
    y: false,
    // The crosshair snaps to a bucket, except while a range is dragged.
    move: (plot, left, top) => {
      if (left < 0 || plot.cursor.event?.buttons) return [left, top];
      return [plot.valToPos(plot.data[0]?.[plot.posToIdx(left)] ?? 0, "x"), top];
    },
    points: { size: (_, index) => (layers[index - 1]?.type === "bar" ? 0 : 6) },
    drag: { x: true, y: false, dist: DRAG_PX, setScale: false, click: () => undefined },
    // Charts share the crosshair; a selection belongs to the chart in which it was made.
    sync: { key: "time", setSeries: false, filters: { pub: (type) => type === "mousemove" } },
  };
}

function toHooks(
  input: ChartInput,
  times: number[],
  handlers: Handlers,
  host: HTMLElement,
  cursorLeft: number,
): uPlot.Hooks.Arrays {
  const { levels = [], periods = [] } = input;
  const unfinished = unfinishedFrom(input, times);
  let hasSelected = false;
  return {
    ready: [
      (plot) => {
        const { over, cursor } = plot;
        if (cursorLeft >= 0) plot.setCursor({ left: cursorLeft, top: 0 });
        over.addEventListener("mousedown", () => {
          hasSelected = false;
        });
        over.addEventListener("click", (event) => {
          const { idx } = cursor;
          if (hasSelected || typeof idx !== "number") return;
          const bars = {
            count: findBesides(input.series).length,
            bucketSeconds: firstBucketSeconds(input, times),
          };
          const distance = event.offsetX - plot.valToPos(times[idx] ?? 0, "x");
          const value = plot.posToVal(cursor.top ?? 0, "y");
          handlers.onClick(idx, value, slotAt(plot, bars, distance));
        });
      },
    ],
    setCursor: [
      ({ bbox, cursor }) => {
        // Otherwise the crosshair follows another chart.
        if (!cursor.event && !host.matches(":hover")) return;
        const x = bbox.left / uPlot.pxRatio + (cursor.left ?? 0);
        handlers.onHover(typeof cursor.idx === "number" ? { index: cursor.idx, x } : null);
      },
    ],
    setSelect: [
      (plot) => {
        const { left, width } = plot.select;
        hasSelected = true;
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        handlers.onSelect(plot.posToIdx(left), plot.posToIdx(left + width));
      },
    ],
    drawAxes: [(plot) => drawPeriods(plot, periods)],
    draw: [
      (plot) => unfinished !== null && fadeFrom(plot, unfinished),
      (plot) => drawLevels(plot, levels, font(uPlot.pxRatio)),
    ],
  };
}

function firstBucketSeconds({ dates, granularity }: ChartInput, times: number[]): number {
  const first = dates[0];
  return first ? bucketEnd(first, granularity) / 1000 - (times[0] ?? 0) : 0;
}

function lastBucketSeconds({ dates, granularity }: ChartInput, times: number[]): number {
  const last = dates.at(-1);
  return last ? bucketEnd(last, granularity) / 1000 - (times.at(-1) ?? 0) : 0;
}

/** Where the unfinished part begins: at the last bar, or at the segment that leads to the last point. */
function unfinishedFrom(input: ChartInput, times: number[]): number | null {
  const last = times.at(-1);
  const seconds = lastBucketSeconds(input, times);
  if (last === undefined || (last + seconds) * 1000 <= Date.now()) return null;
  const hasBars = input.series.some((one) => one.type === "bar");
  return hasBars ? last - seconds / 2 : (times.at(-2) ?? last - seconds / 2);
}

let family: string | undefined;

function font(scale: number): string {
  // Read once: it forces the browser to compute styles.
  family ??= getComputedStyle(document.body).fontFamily;
  return `${FONT_PX * scale}px ${family}`;
}
