/** The rows of a query in a table. */
import { useMemo } from "react";
import {
  columnLabel,
  formatMeasure,
  groupValue,
  measureOf,
  type Query,
  type Row,
} from "@/lib/analyticsQuery";
import type { Granularity } from "@/lib/api";
import { useTimeZone } from "@/lib/timeZone";
import { pointLabel } from "../chart/series";
import { type Column, type Sorting, Table } from "../Table";

interface Props {
  label: string;
  query: Query;
  rows: Row[];
  /** Without it, the rows have no dates. */
  granularity: Granularity | null;
  sorting?: Sorting;
}

export function ResultTable({ label, query, rows, granularity, sorting }: Props) {
  const zone = useTimeZone();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the zone decides the dates
  const columns = useMemo(() => toColumns(query, granularity), [query, granularity, zone]);
  const keys = useMemo(() => new Map(rows.map((row, index) => [row, String(index)])), [rows]);
  return (
    <Table
      label={label}
      columns={columns}
      rows={rows}
      rowKey={(row) => keys.get(row) ?? ""}
      sorting={sorting}
      minWidth={`${columns.length * 6.5 + 2}rem`}
    />
  );
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
