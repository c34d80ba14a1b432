import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { useCallback, useMemo } from "react";
import { api, type Schemas, unwrapPage } from "@/lib/api";
import { queries } from "@/lib/client";
import { formatCounted } from "@/lib/format";
import { currentRange, filterQuery, type Range, useKeptSearch, useRange } from "@/lib/range";
import { traceSearch, writeList } from "@/lib/traceFilters";
import { type Search, useUrl } from "@/lib/url";
import { ListPage } from "@/ui/ListPage";
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
    <ListPage
      title="Sessions"
      page="sessions"
      placeholder="Part of a session or user id"
      count={total !== undefined && formatCounted(total, "session")}
      query={sessions}
      table={{
        columns,
        rows,
        rowKey: (one) => one.sessionId,
        onOpen: (one) =>
          void navigate({
            to: `/sessions/${encodeURIComponent(one.sessionId)}`,
            search: { list: writeList(url) },
          }),
        onEnd,
        minWidth: "70rem",
      }}
      sortedBy="time"
      icon={<MessagesSquare className="size-6" />}
      advice="Try fewer filters or a longer period."
    >
      Traces with the same <code className="font-mono text-sm">session.id</code> appear here as one
      conversation.
    </ListPage>
  );
}
