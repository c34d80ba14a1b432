/** Changes as rows: both values, the difference with its interval, and the verdict. */
import type { ReactNode } from "react";
import { formatChange } from "@/lib/format";
import { Badge } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { IntervalBar, makeScale, ticksOf } from "@/ui/IntervalBar";
import {
  type Change,
  formatDifference,
  formatSamples,
  formatValue,
  toneOf,
  VERDICTS,
} from "./measures";

const COLUMNS =
  "grid grid-cols-2 items-center gap-x-3 md:grid-cols-[minmax(9rem,1.2fr)_6rem_6rem_9.5rem_minmax(8rem,1.6fr)_8.5rem]";
const TEXT = { good: "text-good", bad: "text-bad", neutral: "text-fg" };

export interface Row {
  key: string;
  label: string;
  change: Change;
  links?: ReactNode;
}

export function ChangeRows({ label, rows }: { label: string; rows: readonly Row[] }) {
  const scale = makeScale(rows.flatMap(({ change }) => change.relativeInterval ?? []));
  // More labels would overlap at 1024 px.
  const ticks = ticksOf(scale, 4);
  // The label of a tick at the edge would overlap the next column.
  const hasRoom = (tick: number) =>
    Math.min(tick - scale.low, scale.high - tick) > 0.08 * (scale.high - scale.low);
  return (
    <div role="table" aria-label={label}>
      <div role="row" className={cx(COLUMNS, "h-8 border-b text-sm text-muted max-md:sr-only")}>
        <span role="columnheader">Measure</span>
        <span role="columnheader" className="text-right">
          Baseline
        </span>
        <span role="columnheader" className="text-right">
          Candidate
        </span>
        <span role="columnheader" className="text-right">
          Difference
        </span>
        <span role="columnheader" className="relative h-5">
          <span className="sr-only">Relative difference with its interval</span>
          {ticks.filter(hasRoom).map((tick) => (
            <span
              key={tick}
              aria-hidden
              className="absolute -translate-x-1/2 whitespace-nowrap"
              style={{ left: scale.at(tick) }}
            >
              {tick === 0 ? "0" : formatChange(1 + tick, 1)}
            </span>
          ))}
        </span>
        <span role="columnheader">Verdict</span>
      </div>
      {rows.map((row) => (
        <ChangeRow key={row.key} row={row} scale={scale} ticks={ticks} />
      ))}
    </div>
  );
}

interface RowProps {
  row: Row;
  scale: ReturnType<typeof makeScale>;
  ticks: number[];
}

function ChangeRow({ row, scale, ticks }: RowProps) {
  const { measure, baseline, candidate, difference, verdict, ...change } = row.change;
  const tone = toneOf(verdict);
  const relative = change.relativeDifference;
  return (
    <div role="row" className={cx(COLUMNS, "border-b py-1.5 last:border-b-0")}>
      <span role="rowheader" className="min-w-0 max-md:col-span-2">
        <span className="block font-medium break-words">{row.label}</span>
        <span className="block text-sm text-muted">{formatSamples(row.change)}</span>
        {row.links}
      </span>
      <Cell name="Baseline">{formatValue(measure, baseline)}</Cell>
      <Cell name="Candidate">{formatValue(measure, candidate)}</Cell>
      <span role="cell" className="md:text-right">
        <span className={cx("block font-semibold", TEXT[tone])}>
          {formatDifference(measure, difference)}
          {relative !== null && (
            <span className="ml-1.5 font-normal">{formatChange(1 + relative, 1)}</span>
          )}
        </span>
        {change.interval && (
          <span className="block text-xs whitespace-nowrap text-muted">
            {formatDifference(measure, change.interval.lower)} …{" "}
            {formatDifference(measure, change.interval.upper)}
          </span>
        )}
      </span>
      <span role="cell" className="max-md:order-last max-md:col-span-2" aria-hidden>
        <IntervalBar
          value={relative}
          interval={change.relativeInterval}
          tone={tone}
          scale={scale}
          ticks={ticks}
          note={noteOf(row.change)}
        />
      </span>
      <span role="cell" className="max-md:text-right">
        <Badge tone={tone}>{VERDICTS[verdict]}</Badge>
      </span>
    </div>
  );
}

function noteOf({ verdict, interval }: Change): string {
  if (verdict === "tooFew") return "at least 30 sessions are needed";
  return interval ? "no interval of the ratio: the baseline is near zero" : "no difference";
}

function Cell({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span role="cell" className="md:text-right">
      <span className="text-sm text-muted md:hidden">{name} </span>
      {children}
    </span>
  );
}
