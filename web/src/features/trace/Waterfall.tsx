/** The span tree with bars on one time axis; only visible rows are rendered. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight } from "lucide-react";
import { memo, useEffect, useRef } from "react";
import { formatCompact, formatCost, formatDuration } from "@/lib/format";
import { cx } from "@/ui/cx";
import { KindIcon, kindColour } from "@/ui/kinds";
import { SpanName } from "./SpanName";
import type { Node, Tree } from "./tree";

const ROW_PX = 30;
const INDENT_PX = 14;
const MAX_INDENT = 14;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

interface Props {
  tree: Tree;
  rows: Node[];
  folded: ReadonlySet<string>;
  selected: string | undefined;
  /** The spans that match a search. */
  matches?: ReadonlySet<string>;
  onSelect: (spanId: string) => void;
  onFold: (spanId: string) => void;
}

export function Waterfall({ tree, rows, folded, selected, matches, onSelect, onFold }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 15,
  });
  const at = rows.findIndex((row) => row.span.spanId === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  return (
    <div
      ref={scroller}
      className="h-full overflow-auto"
      tabIndex={0}
      aria-label="Spans"
      role="tree"
    >
      <Axis length={tree.length} />
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const node = rows[item.index];
          if (!node) return null;
          return (
            <Row
              key={node.span.spanId}
              node={node}
              top={item.start}
              length={tree.length}
              isCritical={tree.critical.has(node.span.spanId)}
              isFolded={folded.has(node.span.spanId)}
              isSelected={item.index === at}
              isMatch={matches?.has(node.span.spanId) ?? false}
              onSelect={onSelect}
              onFold={onFold}
            />
          );
        })}
      </div>
    </div>
  );
}

const COLUMNS = "grid grid-cols-[minmax(11rem,46%)_1fr]";

function Axis({ length }: { length: number }) {
  return (
    <div className={cx(COLUMNS, "sticky top-0 z-10 h-7 border-b bg-bg text-xs text-muted")}>
      <span className="flex items-center px-3">
        Span
        <span className="ml-auto inline-flex items-center gap-1.5 whitespace-nowrap">
          <span className="h-0.5 w-4 rounded bg-fg" aria-hidden /> critical path
        </span>
      </span>
      <div className="relative mr-3">
        {TICKS.map((tick) => (
          <span
            key={tick}
            className={cx(
              "absolute top-1.5 whitespace-nowrap",
              tick === 1 ? "-translate-x-full" : tick > 0 && "-translate-x-1/2",
              (tick === 0.25 || tick === 0.75) && "max-lg:hidden",
            )}
            style={{ left: `${tick * 100}%` }}
          >
            {tick === 0 ? "0" : formatDuration(length * tick)}
          </span>
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  node: Node;
  top: number;
  length: number;
  isCritical: boolean;
  isFolded: boolean;
  isSelected: boolean;
  isMatch: boolean;
  onSelect: (spanId: string) => void;
  onFold: (spanId: string) => void;
}

/** Memoized: scrolling moves rows without rendering them again. */
const Row = memo(function Row({
  node,
  top,
  length,
  isCritical,
  isFolded,
  isSelected,
  isMatch,
  onSelect,
  onFold,
}: RowProps) {
  const { span } = node;
  const isError = span.status === "error";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the page has shortcuts for the tree
    <div
      role="treeitem"
      tabIndex={-1}
      aria-level={node.depth + 1}
      aria-selected={isSelected}
      data-match={isMatch || undefined}
      aria-expanded={node.children.length > 0 ? !isFolded : undefined}
      onClick={() => onSelect(span.spanId)}
      style={{ height: ROW_PX, transform: `translateY(${top}px)` }}
      className={cx(
        COLUMNS,
        "absolute inset-x-0 cursor-pointer items-center border-b border-line/60",
        isSelected ? "bg-accent-soft" : isMatch ? "bg-warning-soft" : "hover:bg-hover",
        isMatch && "shadow-[inset_3px_0_0_var(--warning)]",
      )}
    >
      <div
        className="flex min-w-0 items-center gap-1.5 pr-2"
        style={{ paddingLeft: 6 + Math.min(node.depth, MAX_INDENT) * INDENT_PX }}
      >
        <FoldButton node={node} isFolded={isFolded} onFold={onFold} />
        <KindIcon kind={span.kind} />
        <SpanName
          name={span.name}
          className={cx(isError && "text-bad", span.countedIn && "text-faint")}
        />
        <span
          className={cx(
            "ml-auto shrink-0 pl-1 text-xs text-faint max-xl:hidden",
            span.countedIn && "line-through",
          )}
          title={span.countedIn ? COUNTED_ELSEWHERE : undefined}
        >
          {usage(node)}
        </span>
      </div>
      <Bar node={node} length={length} isCritical={isCritical} />
    </div>
  );
});

const COUNTED_ELSEWHERE = "Not counted: another span reports the same call";

function usage({ span }: Node): string {
  if (span.totalTokens === 0) return "";
  const cost = span.cost > 0 ? ` · ${formatCost(span.cost)}` : "";
  return `${formatCompact(span.totalTokens)}${cost}`;
}

function FoldButton({ node, isFolded, onFold }: Pick<RowProps, "node" | "isFolded" | "onFold">) {
  if (node.children.length === 0) return <span className="w-4 shrink-0" />;
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={isFolded ? "Expand" : "Collapse"}
      onClick={(event) => {
        event.stopPropagation();
        onFold(node.span.spanId);
      }}
      className="flex size-4 shrink-0 items-center justify-center rounded text-faint hover:bg-raised hover:text-fg"
    >
      <ChevronRight
        className={cx("size-3 transition-transform", !isFolded && "rotate-90")}
        aria-hidden
      />
    </button>
  );
}

function Bar({ node, length, isCritical }: Pick<RowProps, "node" | "length" | "isCritical">) {
  const { span } = node;
  const left = (node.start / length) * 100;
  const width = Math.max(((node.end - node.start) / length) * 100, 0.3);
  const colour = span.status === "error" ? "var(--bad)" : kindColour(span.kind);
  // The duration is shown after the bar, or before it if there is no room.
  const isRoomBehind = left + width < 80;
  return (
    <div className="relative mr-3 h-full">
      <div
        className="absolute top-2 h-3 min-w-0.5 rounded-sm"
        style={{ left: `${Math.min(left, 99.7)}%`, width: `${width}%`, background: colour }}
      />
      {isCritical && (
        <div
          title="On the critical path"
          className="absolute top-[1.375rem] h-0.5 min-w-0.5 rounded bg-fg"
          style={{ left: `${Math.min(left, 99.7)}%`, width: `${width}%` }}
        />
      )}
      <span
        className="absolute top-1.5 text-xs whitespace-nowrap text-muted"
        style={
          isRoomBehind
            ? { left: `calc(${left + width}% + 6px)` }
            : left > 20
              ? { right: `calc(${100 - left}% + 6px)` }
              : { right: `calc(${100 - left - width}% + 6px)`, color: "var(--bg)" }
        }
      >
        {formatDuration(span.durationMs)}
      </span>
    </div>
  );
}
