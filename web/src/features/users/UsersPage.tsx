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
import { useUrl } from "@/lib/url";
import { ListPage } from "@/ui/ListPage";
import { type Column, RowLink } from "@/ui/Table";

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
  const navigate = useNavigate();
  const users = useUsers();
  const kept = useKeptSearch();
  const columns = useMemo(() => columnsWith(kept), [kept]);
  const rows = users.data?.rows ?? [];
  return (
    <ListPage
      title="Users"
      page="users"
      placeholder="Part of a user id"
      count={
        users.data && (
          <>
            {formatCounted(users.data.total, "user")}
            {users.data.truncated && `, the first ${formatCount(rows.length)} shown`}
          </>
        )
      }
      query={users}
      table={{
        columns,
        rows,
        rowKey: nameOf,
        onOpen: (row) => void navigate({ to: pathOf(row) }),
        minWidth: "64rem",
      }}
      sortedBy="cost"
      icon={<UserRound className="size-6" />}
      advice="Try fewer filters or a longer period. The search matches any part of a user id."
    >
      Send the attribute <code className="font-mono text-sm">user.id</code> with your spans to see
      cost and errors by user.
    </ListPage>
  );
}
