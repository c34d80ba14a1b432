/** The order of a table's columns where not all of them fit. */
import { type RefObject, useLayoutEffect, useMemo, useState } from "react";
import type { Column } from "./Table";

/** The columns that lead, then the sorted one, then the others. */
export function putSortedFirst<Row>(columns: Column<Row>[], sortedBy: string): Column<Row>[] {
  const at = columns.findIndex((column) => column.sort === sortedBy);
  const sorted = columns[at];
  // One in front of the leading columns is in sight anyway.
  if (!sorted || at <= columns.findLastIndex((column) => column.leads)) return columns;
  const leading = columns.filter((column) => column.leads);
  return [
    ...leading.map((column) => ({ ...column, width: column.narrowWidth ?? column.width })),
    sorted,
    ...columns.filter((column) => !column.leads && column !== sorted),
  ];
}

/** Keeps the sorted column in sight where the table is wider than its scroller. */
export function useVisibleColumns<Row>(
  scroller: RefObject<HTMLElement | null>,
  columns: Column<Row>[],
  sortedBy: string | undefined,
): Column<Row>[] {
  const [isCut, setIsCut] = useState(false);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || sortedBy === undefined) return;
    const measure = () => setIsCut(box.scrollWidth > box.clientWidth + 1);
    measure();
    if (typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(measure);
    // Its content can grow while its own size stays.
    for (const one of [box, ...box.children]) observer.observe(one);
    return () => observer.disconnect();
  }, [scroller, sortedBy]);
  // The sorted column moves to the front, so it would be out of sight further right.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another order moves it
  useLayoutEffect(() => {
    if (isCut && scroller.current) scroller.current.scrollLeft = 0;
  }, [sortedBy]);
  return useMemo(
    () => (isCut && sortedBy !== undefined ? putSortedFirst(columns, sortedBy) : columns),
    [isCut, columns, sortedBy],
  );
}
