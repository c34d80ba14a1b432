/** The spans of a grouping: filters, a chart over time and a table. */
import { useNavigate } from "@tanstack/react-router";
import { Layers } from "lucide-react";
import { useMemo } from "react";
import { useConditions } from "@/lib/conditions";
import { formatCounted } from "@/lib/format";
import { type Group, useGroups } from "@/lib/groups";
import { useKeptSearch } from "@/lib/range";
import { stringifySearch, useSetUrl, useUrl } from "@/lib/url";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Table } from "@/ui/Table";
import { type Grouping, nameOf, spanColumns } from "./groupings";
import { SpanChart, useSpanConditions } from "./SpanChart";

function useSpans(grouping: Grouping) {
  const url = useUrl();
  const filters = useSpanConditions(grouping.filters);
  const sort = grouping.measures.includes(url.sort ?? "") ? url.sort : grouping.sort;
  const query = useGroups({
    of: "spans",
    measures: grouping.measures,
    groupBy: grouping.groupBy,
    filters,
    orderBy: { field: sort ?? grouping.sort, order: url.order === "asc" ? "asc" : "desc" },
    limit: 500,
  });
  return { query, sort: sort ?? grouping.sort };
}

interface Props {
  grouping: Grouping;
  /** Whose views are offered. */
  page: string;
}

export function SpanGroups({ grouping, page }: Props) {
  const url = useUrl();
  const setUrl = useSetUrl();
  const navigate = useNavigate();
  const { query, sort } = useSpans(grouping);
  const kept = useKeptSearch();
  const [conditions] = useConditions();
  const hrefOf = useMemo(() => {
    const base = kept ? `${kept}&` : "?";
    return (row: Group) => {
      const own = grouping.groupBy.map((field) => ({ field, op: "eq", value: row[field] }));
      const filters = JSON.stringify([...conditions, ...own.filter((one) => one.value !== null)]);
      return `/traces${base}${stringifySearch({ filters }).slice(1)}`;
    };
  }, [kept, grouping, conditions]);
  const columns = useMemo(() => spanColumns(grouping, hrefOf), [grouping, hrefOf]);
  const rows = query.data?.rows ?? [];
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <UrlFilterButton />
        <ViewsButton page={page} />
        <UrlChips />
        <span className="ml-auto text-sm text-muted">
          {query.data && formatCounted(query.data.total, grouping.noun)}
        </span>
      </div>
      <SpanChart key={grouping.id} grouping={grouping} />
      <div className="min-h-0 flex-1">
        {query.error && !query.data ? (
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <SkeletonRows rows={14} />
        ) : rows.length === 0 ? (
          <EmptyState icon={<Layers className="size-6" />} title={grouping.empty}>
            {grouping.hint}
          </EmptyState>
        ) : (
          <Table
            label={grouping.label}
            columns={columns}
            rows={rows}
            rowKey={(row) => nameOf(row, grouping)}
            onOpen={(row) => void navigate({ href: hrefOf(row) })}
            minWidth={grouping.minWidth}
            sorting={{
              by: sort,
              order: url.order === "asc" ? "asc" : "desc",
              onChange: (by, order) =>
                setUrl({
                  sort: by === grouping.sort ? undefined : by,
                  order: order === "desc" ? undefined : order,
                }),
            }}
          />
        )}
      </div>
    </>
  );
}
