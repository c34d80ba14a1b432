/** The users of the traces in the range, the costliest first. */
import { useNavigate } from "@tanstack/react-router";
import { UserRound } from "lucide-react";
import { useMemo } from "react";
import { useConditions } from "@/lib/conditions";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatCounted,
  formatDuration,
  formatPercent,
} from "@/lib/format";
import { type Group, numberOf, pageConditions, useGroups } from "@/lib/groups";
import { useKeptSearch } from "@/lib/range";
import { useSetUrl, useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { ListTitle } from "@/ui/Panel";
import { SearchBox } from "@/ui/SearchBox";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { type Column, RowLink, Table } from "@/ui/Table";

const MEASURES = [
  "cost",
  "count",
  "errors",
  "errorRate",
  "sessions",
  "p95",
  "inputTokens",
  "outputTokens",
];
const MOST = 1000;

function useUsers() {
  const url = useUrl();
  const { search, sort = "cost", order } = url;
  const [conditions] = useConditions();
  return useGroups({
    measures: MEASURES,
    groupBy: ["userId"],
    filters: [
      search
        ? { field: "userId", op: "contains", value: search }
        : { field: "userId", op: "exists" },
      ...pageConditions(url),
      ...conditions,
    ],
    orderBy: {
      field: MEASURES.includes(sort) ? sort : "cost",
      order: order === "asc" ? "asc" : "desc",
    },
    limit: MOST,
  });
}

function number(
  id: string,
  header: string,
  show: (value: number | null) => string,
  width = "minmax(5rem, 1fr)",
): Column<Group> {
  return { id, header, width, align: "right", sort: id, cell: (row) => show(numberOf(row, id)) };
}

const nameOf = (row: Group) => String(row.userId);
const pathOf = (row: Group) => `/users/${encodeURIComponent(nameOf(row))}`;

const columnsWith = (kept: string): Column<Group>[] => [
  {
    id: "user",
    header: "User",
    width: "minmax(12rem, 3fr)",
    leads: true,
    cell: (row) => (
      <RowLink href={pathOf(row) + kept} title={nameOf(row)} className="hover:text-accent">
        {nameOf(row)}
      </RowLink>
    ),
  },
  number("count", "Traces", formatCount),
  number("sessions", "Sessions", formatCount),
  number("errors", "Errors", formatCount),
  number("errorRate", "Error rate", formatPercent),
  number("p95", "p95", formatDuration),
  number("inputTokens", "Input tokens", formatCompact, "minmax(6.5rem, 1fr)"),
  number("outputTokens", "Output tokens", formatCompact, "minmax(7rem, 1fr)"),
  number("cost", "Cost", formatCost),
];

export default function UsersPage() {
  const url = useUrl();
  const setUrl = useSetUrl();
  const navigate = useNavigate();
  const users = useUsers();
  const kept = useKeptSearch();
  const columns = useMemo(() => columnsWith(kept), [kept]);
  const rows = users.data?.rows ?? [];
  return (
    <div className="flex h-full flex-col">
      <ListTitle>Users</ListTitle>
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <SearchBox label="Search users" placeholder="Part of a user id" />
        <UrlFilterButton />
        <ViewsButton page="users" />
        <UrlChips />
        <span className="ml-auto text-sm text-muted">
          {users.data && formatCounted(users.data.total, "user")}
          {users.data?.truncated && `, the first ${formatCount(rows.length)} shown`}
        </span>
      </div>
      <div className="min-h-0 flex-1">
        {users.error && !users.data ? (
          <ErrorState error={users.error} onRetry={() => void users.refetch()} />
        ) : users.isPending ? (
          <SkeletonRows rows={18} />
        ) : rows.length === 0 ? (
          <NoUsers isFiltered={Boolean(url.search || url.filters)} />
        ) : (
          <Table
            label="Users"
            columns={columns}
            rows={rows}
            rowKey={nameOf}
            onOpen={(row) => void navigate({ to: pathOf(row) })}
            minWidth="64rem"
            sorting={{
              by: url.sort ?? "cost",
              order: url.order === "asc" ? "asc" : "desc",
              onChange: (by, order) =>
                setUrl({
                  sort: by === "cost" ? undefined : by,
                  order: order === "desc" ? undefined : order,
                }),
            }}
          />
        )}
      </div>
    </div>
  );
}

function NoUsers({ isFiltered }: { isFiltered: boolean }) {
  const setUrl = useSetUrl();
  return (
    <EmptyState
      icon={<UserRound className="size-6" />}
      title={isFiltered ? "No users match" : "No users in this period"}
      action={
        isFiltered && (
          <Button onClick={() => setUrl({ search: undefined, filters: undefined })}>
            Clear filters
          </Button>
        )
      }
    >
      {isFiltered ? (
        "Try fewer filters or a longer period. The search matches any part of a user id."
      ) : (
        <>
          Send the attribute <code className="font-mono text-sm">user.id</code> with your spans to
          see cost and errors by user.
        </>
      )}
    </EmptyState>
  );
}
