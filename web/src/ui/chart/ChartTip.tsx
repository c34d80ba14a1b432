import { Dot } from "../Badge";
import { type ChartInput, pointLabel } from "./series";

interface Props extends ChartInput {
  index: number;
  x: number;
  width: number;
}

/** The values at the crosshair, on the side with more room. */
export function ChartTip({ dates, granularity, series, format, index, x, width }: Props) {
  const date = dates[index];
  if (date === undefined) return null;
  const side = x > width / 2 ? { right: width - x + 14 } : { left: x + 14 };
  const rows = series.filter((one) => one.values[index] !== 0 || series.length <= 3);
  const stacked = series.filter((one) => one.stack);
  const total = stacked.reduce((sum, one) => sum + (one.values[index] ?? 0), 0);
  return (
    <div
      className="pointer-events-none absolute top-1 z-30 min-w-36 rounded-md border bg-surface px-2.5 py-1.5 text-sm shadow-lg"
      style={side}
    >
      <div className="mb-0.5 whitespace-nowrap text-muted">{pointLabel(date, granularity)}</div>
      {rows.map((one) => (
        <div key={one.name} className="flex items-center gap-2 whitespace-nowrap">
          <Dot colour={one.colour} />
          <span className="max-w-52 truncate">{one.name}</span>
          <span className="ml-auto pl-3 font-medium">{show(one.values[index], format)}</span>
        </div>
      ))}
      {stacked.length > 1 && (
        <div className="mt-0.5 flex justify-between border-t pt-0.5">
          <span className="text-muted">Total</span>
          <span className="font-medium">{format(total)}</span>
        </div>
      )}
    </div>
  );
}

function show(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "no data" : format(value);
}
