/** The spans of two traces side by side, and the words that differ in a chosen pair. */
import { useMemo } from "react";
import type { Span, TraceWithSpans } from "@/lib/api";
import { formatChange, formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { diffWords } from "@/lib/textDiff";
import { useSetUrl, useUrl } from "@/lib/url";
import { Badge, type Tone } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { contentText, type PairState, pairSpans, type SpanPair, stateOf } from "./traceDiff";

const STATES: Record<PairState, { label: string; tone: Tone }> = {
  same: { label: "Same", tone: "neutral" },
  changed: { label: "Changed", tone: "info" },
  left: { label: "First trace only", tone: "bad" },
  right: { label: "Second trace only", tone: "good" },
};
const MAX_INDENT = 12;
/** More rows than this are not listed: the page must stay quick. */
const MAX_ROWS = 1000;

export function SpanDiff({ left, right }: { left: TraceWithSpans; right: TraceWithSpans }) {
  const { pair: chosen } = useUrl();
  const setUrl = useSetUrl();
  const rows = useMemo(
    () => pairSpans(left.spans, right.spans).map((pair) => ({ pair, state: stateOf(pair) })),
    [left, right],
  );
  const index = Math.min(
    Number(
      chosen ??
        Math.max(
          0,
          rows.findIndex((row) => row.state === "changed"),
        ),
    ) || 0,
    rows.length - 1,
  );
  const selected = rows[index]?.pair;
  const count = (state: PairState) => rows.filter((row) => row.state === state).length;
  return (
    <div className="grid flex-1 lg:min-h-0 lg:grid-cols-2">
      <section className="@container flex flex-col border-b lg:min-h-0 lg:border-r lg:border-b-0">
        <p className="flex flex-wrap gap-x-3 border-b px-3 py-2 text-sm text-muted">
          {(Object.keys(STATES) as PairState[]).map((state) => (
            <span key={state}>
              {STATES[state].label}: {formatCount(count(state))}
            </span>
          ))}
        </p>
        <ul aria-label="Spans of both traces" className="min-h-0 flex-1 lg:overflow-auto">
          {rows.slice(0, MAX_ROWS).map(({ pair, state }, at) => (
            <li key={`${pair.left?.spanId}:${pair.right?.spanId}`}>
              <PairRow
                pair={pair}
                state={state}
                isSelected={at === index}
                onSelect={() => setUrl({ pair: String(at) })}
              />
            </li>
          ))}
        </ul>
        {rows.length > MAX_ROWS && (
          <p className="border-t px-3 py-2 text-sm text-muted">
            The first {formatCount(MAX_ROWS)} of {formatCount(rows.length)} spans
          </p>
        )}
      </section>
      <section
        className="min-w-0 p-3 lg:min-h-0 lg:overflow-auto"
        tabIndex={0}
        aria-label="Content of the chosen spans"
      >
        {selected && <Content pair={selected} />}
      </section>
    </div>
  );
}

interface RowProps {
  pair: SpanPair;
  state: PairState;
  isSelected: boolean;
  onSelect: () => void;
}

function PairRow({ pair: { left, right, depth }, state, isSelected, onSelect }: RowProps) {
  const span = (right ?? left) as Span;
  const { label, tone } = STATES[state];
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      onClick={onSelect}
      className={cx(
        "flex w-full flex-wrap items-center gap-x-3 border-b px-3 py-1 text-left",
        isSelected ? "bg-accent-soft" : "hover:bg-hover",
      )}
      style={{ paddingLeft: `${0.75 + Math.min(depth, MAX_INDENT)}rem` }}
    >
      <span className="min-w-0 flex-1 truncate">
        {span.name}
        {left && right && left.name !== right.name && (
          <span className="text-muted"> (was {left.name})</span>
        )}
      </span>
      <Figures left={left} right={right} />
      <Badge tone={tone}>{label}</Badge>
    </button>
  );
}

const FIGURES = [
  { name: "duration", of: (span: Span) => span.durationMs, show: formatDuration },
  {
    name: "tokens",
    of: (span: Span) => (span.inputTokens ?? 0) + (span.outputTokens ?? 0),
    show: formatCompact,
  },
  { name: "cost", of: (span: Span) => span.cost ?? 0, show: formatCost },
];

function Figures({ left, right }: { left: Span | null; right: Span | null }) {
  return (
    <span className="flex flex-wrap gap-x-3 text-sm text-muted @max-xl:order-last @max-xl:basis-full">
      {left && right && left.status !== right.status && (
        <span className="text-bad">
          {left.status} → {right.status}
        </span>
      )}
      {FIGURES.map(({ name, of, show }) => {
        const [before, now] = [left ? of(left) : null, right ? of(right) : null];
        if (!before && !now) return null;
        const change = before !== null && now !== null ? formatChange(now, before) : null;
        return (
          <span key={name} title={`${name}: ${show(before)} → ${show(now)}`}>
            {show(now ?? before)}
            {change && ` ${change}`}
          </span>
        );
      })}
    </span>
  );
}

function Content({ pair: { left, right } }: { pair: SpanPair }) {
  return (
    <div className="flex flex-col gap-4">
      {(["input", "output"] as const).map((side) => (
        <TextDiff
          key={side}
          title={side === "input" ? "Input" : "Output"}
          before={contentText(left, side)}
          after={contentText(right, side)}
        />
      ))}
    </div>
  );
}

function TextDiff({ title, before, after }: { title: string; before: string; after: string }) {
  const pieces = useMemo(() => diffWords(before, after), [before, after]);
  const isSame = pieces.every((piece) => piece.kind === "same");
  return (
    <section>
      <h3 className="mb-1.5 text-sm text-muted">
        {title}
        {pieces.length > 0 && isSame && ", no difference"}
      </h3>
      {pieces.length === 0 ? (
        <p className="text-muted">Both are empty.</p>
      ) : (
        <pre className="rounded-md border bg-surface p-3 font-mono text-sm break-words whitespace-pre-wrap">
          {pieces.map((piece, index) =>
            piece.kind === "same" ? (
              piece.text
            ) : piece.kind === "removed" ? (
              <del key={index} className="bg-bad-soft text-bad">
                {piece.text}
              </del>
            ) : (
              <ins key={index} className="bg-good-soft text-good">
                {piece.text}
              </ins>
            ),
          )}
        </pre>
      )}
    </section>
  );
}
