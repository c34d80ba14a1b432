import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { useCallback, useMemo } from "react";
import { api, type Session, unwrapPage } from "@/lib/api";
import { queries } from "@/lib/client";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { previewText } from "@/lib/messages";
import {
  currentRange,
  type FilterQuery,
  filterQuery,
  useFilterQuery,
  useKeptSearch,
} from "@/lib/range";
import type { Search } from "@/lib/url";
import { Badge, Dot } from "@/ui/Badge";
import { ListTitle } from "@/ui/Panel";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { type Column, RowLink, Table } from "@/ui/Table";
import { Time } from "@/ui/Time";

function useColumns(): Column<Session>[] {
  const kept = useKeptSearch();
  return useMemo(() => columnsWith(kept), [kept]);
}

const columnsWith = (kept: string): Column<Session>[] => [
  {
    id: "last",
    header: "Last turn",
    width: "7.5rem",
    cell: (one) => <Time at={one.lastAt} as="short" />,
  },
  {
    id: "id",
    header: "Session",
    width: "minmax(9rem, 1fr)",
    cell: (one) => <SessionName session={one} kept={kept} />,
  },
  {
    id: "agents",
    header: "Agents",
    width: "minmax(8rem, 1fr)",
    cell: (one) => <Agents names={one.agentNames} />,
  },
  { id: "user", header: "User", width: "8rem", cell: (one) => one.userId },
  {
    id: "first",
    header: "First message",
    width: "minmax(10rem, 2fr)",
    cell: (one) => <span className="text-muted">{previewText(one.inputPreview)}</span>,
  },
  {
    id: "turns",
    header: "Turns",
    width: "4rem",
    align: "right",
    cell: (one) => formatCount(one.traceCount),
  },
  {
    id: "length",
    header: "Duration",
    width: "6rem",
    align: "right",
    cell: (one) => formatDuration(Date.parse(one.lastAt) - Date.parse(one.firstAt)),
  },
  {
    id: "tokens",
    header: "Tokens",
    width: "5rem",
    align: "right",
    cell: (one) => formatCompact(one.totalTokens),
  },
  {
    id: "cost",
    header: "Cost",
    width: "5rem",
    align: "right",
    cell: (one) => formatCost(one.cost),
  },
];

function SessionName({ session, kept }: { session: Session; kept: string }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <RowLink
        href={`/sessions/${encodeURIComponent(session.sessionId)}${kept}`}
        className="truncate font-mono text-sm hover:text-accent"
      >
        {session.sessionId}
      </RowLink>
      {session.errorCount > 0 && (
        <span title={`${session.errorCount} traces failed`}>
          <Badge tone="bad">{session.errorCount}</Badge>
        </span>
      )}
    </span>
  );
}

function Agents({ names }: { names: string[] }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1.5" title={names.join(", ")}>
      {names[0] && <Dot colour={colourOf(names[0])} />}
      <span className="truncate">{names.join(", ")}</span>
    </span>
  );
}

function sessionsOf(query: FilterQuery) {
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
  void queries.prefetchInfiniteQuery(sessionsOf(filterQuery(url, currentRange(url))));

export default function SessionsPage() {
  const query = useFilterQuery();
  const navigate = useNavigate();
  const columns = useColumns();
  const sessions = useInfiniteQuery({ ...sessionsOf(query), placeholderData: keepPreviousData });
  const rows = useMemo(
    () => sessions.data?.pages.flatMap((page) => page.items) ?? [],
    [sessions.data],
  );
  const { hasNextPage, fetchNextPage } = sessions;
  const onEnd = useCallback(
    () => hasNextPage && void fetchNextPage(),
    [hasNextPage, fetchNextPage],
  );
  return (
    <div className="flex h-full flex-col">
      <ListTitle>Sessions</ListTitle>
      {sessions.error && rows.length === 0 ? (
        <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />
      ) : sessions.isPending ? (
        <SkeletonRows rows={18} />
      ) : rows.length === 0 ? (
        <EmptyState icon={<MessagesSquare className="size-6" />} title="No sessions in this period">
          Traces with the same <code className="font-mono text-sm">session.id</code> appear here as
          one conversation.
        </EmptyState>
      ) : (
        <Table
          label="Sessions"
          columns={columns}
          rows={rows}
          rowKey={(one) => one.sessionId}
          onOpen={(one) => void navigate({ to: `/sessions/${encodeURIComponent(one.sessionId)}` })}
          onEnd={onEnd}
          minWidth="66rem"
        />
      )}
    </div>
  );
}
