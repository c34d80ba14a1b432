/** The rows of a query in a table. */
import { useCallback, useMemo } from "react";
import {
  columnLabel,
  formatMeasure,
  groupValue,
  measureOf,
  type Query,
  type Row,
} from "@/lib/analyticsQuery";
import type { Granularity } from "@/lib/api";
import type { Behind, Part } from "@/lib/behind";
import { useTimeZone } from "@/lib/timeZone";
import { pointLabel } from "../chart/series";
import { type Column, RowLink, type Sorting, Table } from "../Table";

interface Props {
  label: string;
  query: Query;
  rows: Row[];
  /** Without it, the rows have no dates. */
  granularity: Granularity | null;
  sorting?: Sorting;
  /** Opens what a row consists of. */
  behind?: Behind | undefined;
}

export function ResultTable({ label, query, rows, granularity, sorting, behind }: Props) {
  const zone = useTimeZone();
  const partOf = useCallback((row: Row) => toPart(row, granularity), [granularity]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the zone decides the dates
  const columns = useMemo(() => {
    const [first, ...rest] = toColumns(query, granularity);
    if (!first || !behind) return first ? [first, ...rest] : rest;
    const cell = (row: Row) => (
      <RowLink href={behind.hrefOf(partOf(row))} className="hover:text-accent">
        {first.cell(row)}
      </RowLink>
    );
    return [{ ...first, cell }, ...rest];
  }, [query, granularity, behind, partOf, zone]);
  const keys = useMemo(() => new Map(rows.map((row, index) => [row, String(index)])), [rows]);
  return (
    <Table
      label={label}
      columns={columns}
      rows={rows}
      rowKey={(row) => keys.get(row) ?? ""}
      sorting={sorting}
      {...(behind && { onOpen: (row: Row) => behind.open(partOf(row)) })}
      minWidth={`${columns.length * 6.5 + 2}rem`}
    />
  );
}

function toPart(row: Row, granularity: Granularity | null): Part {
  return granularity ? { row, step: { date: String(row.date), granularity } } : { row };
}

function toColumns(query: Query, granularity: Granularity | null): Column<Row>[] {
  const dates: Column<Row>[] = granularity
    ? [
        {
          id: "date",
          header: "Time",
          cell: (row) => pointLabel(String(row.date), granularity),
          width: "minmax(10rem, 1fr)",
        },
      ]
    : [];
  const groups = (query.groupBy ?? []).map(
    (name): Column<Row> => ({
      id: name,
      header: columnLabel(name),
      cell: (row) => <span title={groupValue(row[name])}>{groupValue(row[name])}</span>,
      width: "minmax(6.5rem, 2fr)",
      sort: name,
    }),
  );
  const measures = query.measures.map(
    (name): Column<Row> => ({
      id: name,
      header: columnLabel(name),
      cell: (row) => <span title={measureOf(name).note}>{formatMeasure(name, row[name])}</span>,
      width: "minmax(5.5rem, 1fr)",
      align: "right",
      sort: name,
    }),
  );
  return [...dates, ...groups, ...measures];
}
