/** Single spans: the slowest, the latest or the costliest first. */
import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Layers } from "lucide-react";
import { useCallback, useMemo } from "react";
import { api, type Schemas, unwrapPage } from "@/lib/api";
import { type Condition, writeConditions } from "@/lib/conditions";
import { formatCounted } from "@/lib/format";
import { rangeQuery, useKeptSearch, useRange } from "@/lib/range";
import { useSetUrl, useUrl } from "@/lib/url";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Table } from "@/ui/Table";
import { listColumns } from "./listColumns";
import { useSpanConditions } from "./SpanChart";

type ListedSpan = Schemas["ListedSpan"];
type Sort = Schemas["SpanSort"];
type Order = Schemas["Order"];

const PAGE = 100;
const SORTS: readonly string[] = ["startTime", "duration", "cost"] satisfies Sort[];
const DEFAULT_SORT: Sort = "duration";
const NONE: Condition[] = [];

function useSpans(sort: Sort, order: Order) {
  const filters = writeConditions(useSpanConditions(NONE));
  const query = { ...rangeQuery(useRange()), filters, sort, order };
  return useInfiniteQuery({
    ...infiniteQueryOptions({
      queryKey: ["spans", query],
      queryFn: ({ pageParam }) =>
        unwrapPage(
          api.GET("/api/spans", { params: { query: { ...query, limit: PAGE, skip: pageParam } } }),
        ),
      initialPageParam: 0,
      getNextPageParam: ({ pagination, items }) =>
        pagination.hasMore ? pagination.skip + items.length : undefined,
    }),
    placeholderData: keepPreviousData,
  });
}

const keyOf = (span: ListedSpan) => `${span.traceId} ${span.spanId}`;

/** A span that arrives between two page loads shifts the rest, so one can appear twice. */
function unique(spans: ListedSpan[]): ListedSpan[] {
  return [...new Map(spans.map((span) => [keyOf(span), span])).values()];
}

export function SpanList() {
  const url = useUrl();
  const setUrl = useSetUrl();
  const navigate = useNavigate();
  const kept = useKeptSearch();
  const sort = (SORTS.includes(url.sort ?? "") ? url.sort : DEFAULT_SORT) as Sort;
  const order = url.order === "asc" ? "asc" : "desc";
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useSpans(sort, order);
  const rows = useMemo(() => unique(data?.pages.flatMap(({ items }) => items) ?? []), [data]);
  const hrefOf = useCallback(
    ({ traceId, spanId }: ListedSpan) =>
      `/traces/${traceId}${kept ? `${kept}&` : "?"}span=${spanId}`,
    [kept],
  );
  const columns = useMemo(() => listColumns(hrefOf), [hrefOf]);
  const total = data?.pages[0]?.pagination.total;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <UrlFilterButton />
        <ViewsButton page="spans" />
        <UrlChips />
        <span className="ml-auto text-sm text-muted">
          {total !== undefined && formatCounted(total, "span")}
        </span>
      </div>
      <div className="min-h-0 flex-1">
        {error && !data ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : isPending ? (
          <SkeletonRows rows={18} />
        ) : rows.length === 0 ? (
          <EmptyState icon={<Layers className="size-6" />} title="No spans match in this period">
            Remove a filter or choose a longer time range.
          </EmptyState>
        ) : (
          <Table
            label="Spans"
            columns={columns}
            rows={rows}
            rowKey={keyOf}
            onOpen={(span) => void navigate({ href: hrefOf(span) })}
            onEnd={() => hasNextPage && void fetchNextPage()}
            minWidth="68rem"
            sorting={{
              by: sort,
              order,
              onChange: (by, next) =>
                setUrl({
                  sort: by === DEFAULT_SORT ? undefined : by,
                  order: next === "desc" ? undefined : next,
                }),
            }}
          />
        )}
      </div>
    </>
  );
}
