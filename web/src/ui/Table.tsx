/** A dense virtual table; more rows are requested near the end. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import {
  type ComponentProps,
  type MouseEvent,
  memo,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from "react";
import { afterPaint } from "@/lib/idle";
import { cx } from "./cx";
import { useVisibleColumns } from "./tableColumns";

export interface Column<Row> {
  id: string;
  header: ReactNode;
  cell: (row: Row) => ReactNode;
  /** A CSS grid track: `8rem`, `minmax(10rem, 2fr)`. */
  width: string;
  align?: "right";
  /** The sort key of the API, if the column is sortable. */
  sort?: string;
  /** Stays in front of the sorted column where the table is wider than the screen. */
  leads?: boolean;
  /** The track of a leading column there. */
  narrowWidth?: string;
}

export interface Sorting {
  by: string;
  order: "asc" | "desc";
  onChange: (by: string, order: "asc" | "desc") => void;
}

interface Props<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  onOpen?: (row: Row) => void;
  sorting?: Sorting;
  selected?: number;
  rowClass?: (row: Row) => string | undefined;
  onEnd?: () => void;
  footer?: ReactNode;
  rowHeight?: number;
  /** Below this width the table scrolls horizontally. */
  minWidth?: string;
}

export function Table<Row>(props: Props<Row>) {
  const { rows, rowKey, onOpen, selected, onEnd, rowHeight = 32 } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const columns = useVisibleColumns(scroller, props.columns, props.sorting?.by);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 4,
  });
  const isFirst = useFirstFrame();
  const items = virtual.getVirtualItems();
  const drawn = isFirst ? items.slice(0, FIRST_ROWS) : items;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 8) onEnd?.();
  }, [last, rows.length, onEnd]);
  useEffect(() => {
    if (selected !== undefined && selected >= 0) virtual.scrollToIndex(selected);
  }, [selected, virtual]);
  return (
    <div ref={scroller} className="h-full overflow-auto" tabIndex={0}>
      <div
        role="table"
        aria-label={props.label}
        aria-rowcount={rows.length}
        style={{ minWidth: props.minWidth ?? "44rem" }}
      >
        <Head columns={columns} sorting={props.sorting} />
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {drawn.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <TableRow
                key={rowKey(row)}
                row={row}
                index={item.index}
                top={item.start}
                height={rowHeight}
                columns={columns}
                isSelected={selected === item.index}
                onOpen={onOpen}
                extra={props.rowClass?.(row)}
              />
            );
          })}
        </div>
      </div>
      {props.footer}
    </div>
  );
}

/** The first frame renders only these rows, which halves the time to the first paint. */
const FIRST_ROWS = 12;

function useFirstFrame(): boolean {
  const [isFirst, setIsFirst] = useState(true);
  useEffect(() => void afterPaint().then(() => setIsFirst(false)), []);
  return isFirst;
}

function tracksOf<Row>(columns: Column<Row>[]): React.CSSProperties {
  return { gridTemplateColumns: columns.map((column) => column.width).join(" ") };
}

interface RowProps<Row> {
  row: Row;
  index: number;
  top: number;
  height: number;
  columns: Column<Row>[];
  isSelected: boolean;
  onOpen: ((row: Row) => void) | undefined;
  extra: string | undefined;
}

function PlainRow<Row>({
  row,
  index,
  top,
  height,
  columns,
  isSelected,
  onOpen,
  extra,
}: RowProps<Row>) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link inside handles the keyboard
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 1}
      aria-selected={isSelected || undefined}
      onClick={onOpen && (() => onOpen(row))}
      style={{ ...tracksOf(columns), height, transform: `translateY(${top}px)` }}
      className={cx(
        "absolute inset-x-0 grid items-center gap-3 border-b px-3",
        onOpen && "cursor-pointer hover:bg-hover",
        isSelected && "bg-accent-soft",
        extra,
      )}
    >
      {columns.map((column) => (
        <div
          key={column.id}
          role="cell"
          className={cx("min-w-0 truncate", column.align === "right" && "text-right")}
        >
          {column.cell(row)}
        </div>
      ))}
    </div>
  );
}

// Scrolling renders the table again, but not the rows that stay.
const TableRow = memo(PlainRow) as typeof PlainRow;

/**
 * A link for the keyboard and for opening new tabs; the row handles a plain click. Router links
 * would re-render in every row whenever the URL changes.
 */
export function RowLink(props: ComponentProps<"a">) {
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) event.stopPropagation();
    else event.preventDefault();
  };
  // biome-ignore lint/a11y: a link whose plain click is handled by the row
  return <a {...props} onClick={onClick} />;
}

interface HeadProps<Row> {
  columns: Column<Row>[];
  sorting?: Sorting | undefined;
}

function Head<Row>({ columns, sorting }: HeadProps<Row>) {
  return (
    <div role="rowgroup" className="sticky top-0 z-10 border-b bg-bg">
      <div role="row" style={tracksOf(columns)} className="grid h-8 items-center gap-3 px-3">
        {columns.map((column) => (
          <div
            key={column.id}
            role="columnheader"
            aria-sort={sortOf(column, sorting)}
            className={cx(
              "flex min-w-0 truncate text-sm text-muted",
              column.align === "right" && "justify-end",
            )}
          >
            {column.sort && sorting ? (
              <SortButton column={column} sorting={sorting} />
            ) : (
              column.header
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

function sortOf<Row>(column: Column<Row>, sorting?: Sorting) {
  if (!column.sort || sorting?.by !== column.sort) return undefined;
  return sorting.order === "asc" ? "ascending" : "descending";
}

function SortButton<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting }) {
  const isActive = sorting.by === column.sort;
  const next = isActive && sorting.order === "desc" ? "asc" : "desc";
  const Arrow = sorting.order === "asc" ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      onClick={() => column.sort && sorting.onChange(column.sort, next)}
      className={cx("inline-flex items-center gap-1 hover:text-fg", isActive && "text-fg")}
    >
      {column.header}
      {isActive && <Arrow className="size-3" aria-hidden />}
    </button>
  );
}
