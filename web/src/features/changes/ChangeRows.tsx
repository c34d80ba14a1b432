/** Changes as rows: both values, the difference with its interval, and the verdict. */
import type { ReactNode } from "react";
import { formatChange } from "@/lib/format";
import { Badge } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { IntervalBar, makeScale, ticksOf } from "@/ui/IntervalBar";
import {
  type Change,
  type Changes,
  formatDifference,
  formatSamples,
  formatValue,
  labelledTicks,
  noteOf,
  toneOf,
  VERDICTS,
} from "./measures";

const COLUMNS =
  "grid grid-cols-2 items-center gap-x-3 lg:grid-cols-[minmax(9rem,1.2fr)_4.5rem_4.75rem_9.5rem_minmax(8rem,1.6fr)_7rem]";
const TEXT = { good: "text-good", bad: "text-bad", neutral: "text-fg" };

export interface Row {
  key: string;
  label: string;
  /** What its figures are, if the label does not say it. */
  basis?: string;
  change: Change;
  links?: ReactNode;
}

interface TableProps {
  label: string;
  /** Whether traces or calls are compared. */
  of: Changes["of"];
  rows: readonly Row[];
}

export function ChangeRows({ label, of, rows }: TableProps) {
  const scale = makeScale(rows.flatMap(({ change }) => change.relativeInterval ?? []));
  const ticks = ticksOf(scale, 4);
  return (
    <div role="table" aria-label={label}>
      <div role="row" className={cx(COLUMNS, "h-8 border-b text-sm text-muted max-lg:sr-only")}>
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
        <span role="columnheader" className="h-5 px-2">
          <span className="sr-only">Relative difference with its interval</span>
          <TickLabels scale={scale} ticks={ticks} />
        </span>
        <span role="columnheader">Verdict</span>
      </div>
      {rows.map((row) => (
        <ChangeRow key={row.key} of={of} row={row} scale={scale} ticks={ticks} />
      ))}
    </div>
  );
}

/** The label of zero, and of the ticks that have room beside it where the column is narrowest. */
function TickLabels({ scale, ticks }: Omit<RowProps, "row" | "of">) {
  return (
    <span aria-hidden className="relative block h-full">
      {labelledTicks(scale, ticks).map((tick) => (
        <span
          key={tick}
          className="absolute -translate-x-1/2 whitespace-nowrap"
          style={{ left: scale.at(tick) }}
        >
          {tick === 0 ? "0" : formatChange(1 + tick, 1)}
        </span>
      ))}
    </span>
  );
}

interface RowProps {
  of: Changes["of"];
  row: Row;
  scale: ReturnType<typeof makeScale>;
  ticks: number[];
}

function ChangeRow({ of, row, scale, ticks }: RowProps) {
  const { measure, baseline, candidate, difference, verdict, ...change } = row.change;
  const tone = toneOf(verdict);
  const relative = change.relativeDifference;
  const isDrawn = relative !== null && change.relativeInterval !== null;
  return (
    <div role="row" className={cx(COLUMNS, "border-b py-1.5 last:border-b-0")}>
      <span role="rowheader" className="min-w-0 max-lg:col-span-2">
        <span className="block font-medium break-words">{row.label}</span>
        {row.basis && <span className="block text-sm">{row.basis}</span>}
        <span className="block text-sm text-muted">{formatSamples(of, row.change)}</span>
        {row.links}
      </span>
      <Cell name="Baseline">{formatValue(measure, baseline)}</Cell>
      <Cell name="Candidate">{formatValue(measure, candidate)}</Cell>
      <span role="cell" className="lg:text-right">
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
      {/* The padding holds the half of a dot that is drawn beyond the end of the scale. */}
      <span
        role="cell"
        className={cx("relative max-lg:order-last max-lg:col-span-2", isDrawn && "px-2")}
        aria-hidden
      >
        <IntervalBar
          value={relative}
          interval={change.relativeInterval}
          tone={tone}
          scale={scale}
          // Lines would strike the note through.
          ticks={isDrawn ? ticks : []}
          note={noteOf(row.change)}
        />
        {isDrawn && relative > scale.high && (
          <span className={cx("absolute -right-1 top-2", TEXT[tone])}>›</span>
        )}
        {isDrawn && (
          <span className="block h-4 text-xs text-muted lg:hidden">
            <TickLabels scale={scale} ticks={ticks} />
          </span>
        )}
      </span>
      <span role="cell" className="max-lg:text-right">
        <Badge tone={tone}>{VERDICTS[verdict]}</Badge>
      </span>
    </div>
  );
}

function Cell({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span role="cell" className="lg:text-right">
      <span className="text-sm text-muted lg:hidden">{name} </span>
      {children}
    </span>
  );
}
