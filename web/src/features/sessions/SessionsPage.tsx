import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { useCallback, useMemo } from "react";
import { api, type Schemas, unwrapPage } from "@/lib/api";
import { queries } from "@/lib/client";
import { formatCounted } from "@/lib/format";
import { currentRange, filterQuery, type Range, useKeptSearch, useRange } from "@/lib/range";
import { traceSearch, writeList } from "@/lib/traceFilters";
import { type Search, useSetUrl, useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { ListTitle } from "@/ui/Panel";
import { SearchBox } from "@/ui/SearchBox";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Table } from "@/ui/Table";
import { sessionColumns } from "./columns";

function useColumns() {
  const kept = useKeptSearch();
  const search = traceSearch(useUrl());
  return useMemo(() => sessionColumns(kept, search), [kept, search]);
}

const SORTS: readonly string[] = ["time", "cost", "traces", "duration", "errors"];

function listQuery(url: Search, range: Range) {
  return {
    ...filterQuery(url, range),
    search: url.search,
    filters: url.filters,
    sort: (SORTS.includes(url.sort ?? "") ? url.sort : "time") as Schemas["SessionSort"],
    order: (url.order === "asc" ? "asc" : "desc") as Schemas["Order"],
  };
}

function sessionsOf(url: Search, range: Range) {
  const query = listQuery(url, range);
  return infiniteQueryOptions({
    queryKey: ["sessions", query],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/spans/sessions", {
          params: { query: { ...query, limit: 100, skip: pageParam } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ pagination, items }) =>
      pagination.hasMore ? pagination.skip + items.length : undefined,
  });
}

export const prefetch = (url: Search) =>
  void queries.prefetchInfiniteQuery(sessionsOf(url, currentRange(url)));

export default function SessionsPage() {
  const url = useUrl();
  const setUrl = useSetUrl();
  const navigate = useNavigate();
  const columns = useColumns();
  const sessions = useInfiniteQuery({
    ...sessionsOf(url, useRange()),
    placeholderData: keepPreviousData,
  });
  const rows = useMemo(
    () => sessions.data?.pages.flatMap((page) => page.items) ?? [],
    [sessions.data],
  );
  const total = sessions.data?.pages[0]?.pagination.total;
  const { hasNextPage, fetchNextPage } = sessions;
  const onEnd = useCallback(
    () => hasNextPage && void fetchNextPage(),
    [hasNextPage, fetchNextPage],
  );
  return (
    <div className="flex h-full flex-col">
      <ListTitle>Sessions</ListTitle>
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <SearchBox label="Search sessions" placeholder="Part of a session or user id" />
        <UrlFilterButton />
        <ViewsButton page="sessions" />
        <UrlChips />
        <span className="ml-auto text-sm whitespace-nowrap text-muted">
          {total !== undefined && formatCounted(total, "session")}
        </span>
      </div>
      <div className="min-h-0 flex-1">
        {sessions.error && rows.length === 0 ? (
          <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />
        ) : sessions.isPending ? (
          <SkeletonRows rows={18} />
        ) : rows.length === 0 ? (
          <NoSessions />
        ) : (
          <Table
            label="Sessions"
            columns={columns}
            rows={rows}
            rowKey={(one) => one.sessionId}
            onOpen={(one) =>
              void navigate({
                to: `/sessions/${encodeURIComponent(one.sessionId)}`,
                search: { list: writeList(url) } as never,
              })
            }
            onEnd={onEnd}
            minWidth="70rem"
            sorting={{
              by: url.sort ?? "time",
              order: url.order === "asc" ? "asc" : "desc",
              onChange: (by, order) =>
                setUrl({
                  sort: by === "time" ? undefined : by,
                  order: order === "desc" ? undefined : order,
                }),
            }}
          />
        )}
      </div>
    </div>
  );
}

function NoSessions() {
  const { search, filters } = useUrl();
  const setUrl = useSetUrl();
  const isFiltered = Boolean(search || filters);
  return (
    <EmptyState
      icon={<MessagesSquare className="size-6" />}
      title={isFiltered ? "No sessions match" : "No sessions in this period"}
      action={
        isFiltered && (
          <Button onClick={() => setUrl({ search: undefined, filters: undefined })}>
            Clear filters
          </Button>
        )
      }
    >
      {isFiltered ? (
        "Try fewer filters or a longer period."
      ) : (
        <>
          Traces with the same <code className="font-mono text-sm">session.id</code> appear here as
          one conversation.
        </>
      )}
    </EmptyState>
  );
}
