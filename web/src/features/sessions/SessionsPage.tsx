import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { useCallback, useMemo } from "react";
import { api, type Session, unwrapPage } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { previewText } from "@/lib/messages";
import { useFilterQuery } from "@/lib/range";
import { Badge, Dot } from "@/ui/Badge";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { type Column, Table } from "@/ui/Table";
import { Time } from "@/ui/Time";

const COLUMNS: Column<Session>[] = [
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
    cell: (one) => <SessionName session={one} />,
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
    header: "Began with",
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
    header: "Lasted",
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

function SessionName({ session }: { session: Session }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Link
        to={`/sessions/${encodeURIComponent(session.sessionId)}`}
        onClick={(event) => event.stopPropagation()}
        className="truncate font-mono text-sm hover:text-accent"
      >
        {session.sessionId}
      </Link>
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

export default function SessionsPage() {
  const query = useFilterQuery();
  const navigate = useNavigate();
  const sessions = useInfiniteQuery({
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
    placeholderData: keepPreviousData,
  });
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
    <div className="h-full">
      <h1 className="sr-only">Sessions</h1>
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
          columns={COLUMNS}
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
