/** What uPlot does not compute: stacked values, and points that a line cannot show. */
import type { Series } from "./series";

/** A series with the value at which each of its points starts: 0, or the top of the stack below. */
export interface Layer extends Series {
  bases: number[];
  tops: (number | null)[];
}

export function stackSeries(series: Series[]): Layer[] {
  const heights = new Map<string, number[]>();
  return series.map((one) => {
    const below = one.stack ? heights.get(one.stack) : undefined;
    const bases = one.values.map((_, index) => below?.[index] ?? 0);
    const tops = one.values.map((value, index) =>
      value === null ? null : value + (bases[index] ?? 0),
    );
    if (one.stack) {
      heights.set(
        one.stack,
        tops.map((top, index) => top ?? bases[index] ?? 0),
      );
    }
    return { ...one, bases, tops };
  });
}

/** The series of bars that are not stacked: several stand beside each other. */
export function findBesides(series: Series[]): Series[] {
  return series.filter(({ type, stack }) => type === "bar" && !stack);
}

/**
 * The name of the series at a value of a bucket: the part of a stack there, the bar of a slot, or the
 * nearest line.
 */
export function seriesAt(
  series: Series[],
  index: number,
  value: number,
  slot = 0,
): string | undefined {
  if (series.some(({ stack }) => stack)) {
    return stackSeries(series).find(
      ({ stack, bases, tops }) =>
        stack && (bases[index] ?? 0) <= value && value < (tops[index] ?? Number.NEGATIVE_INFINITY),
    )?.name;
  }
  const bars = findBesides(series);
  if (bars.length > 1) return bars[slot]?.name;
  const distance = ({ values }: Series) =>
    Math.abs((values[index] ?? Number.POSITIVE_INFINITY) - value);
  const drawn = series.filter(({ values }) => typeof values[index] === "number");
  return drawn.toSorted((a, b) => distance(a) - distance(b))[0]?.name;
}

/** Points with a gap on both sides: they are drawn as dots. */
export function findLonePoints(values: (number | null)[]): number[] {
  const isGap = (index: number) => (values[index] ?? null) === null;
  return values.flatMap((_, index) =>
    !isGap(index) && isGap(index - 1) && isGap(index + 1) ? [index] : [],
  );
}
