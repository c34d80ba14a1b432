import type { Session } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { previewText } from "@/lib/messages";
import { Badge, Dot } from "@/ui/Badge";
import { type Column, RowLink } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { UserLink } from "@/ui/UserLink";

/** `kept` is the query string that links preserve; `search` has the list, too. */
export const sessionColumns = (kept: string, search: string): Column<Session>[] => [
  {
    id: "last",
    header: "Last turn",
    width: "8.5rem",
    sort: "time",
    cell: (one) => <Time at={one.lastAt} as="precise" />,
  },
  {
    id: "id",
    header: "Session",
    width: "minmax(9rem, 1fr)",
    leads: true,
    cell: (one) => <SessionName session={one} search={search} />,
  },
  {
    id: "agents",
    header: "Agents",
    width: "minmax(8rem, 1fr)",
    cell: (one) => <Agents names={one.agentNames} />,
  },
  {
    id: "user",
    header: "User",
    width: "8rem",
    cell: (one) => <UserLink userId={one.userId} kept={kept} />,
  },
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
    sort: "traces",
    cell: (one) => formatCount(one.traceCount),
  },
  {
    id: "length",
    header: "Duration",
    width: "6rem",
    align: "right",
    sort: "duration",
    cell: (one) => formatDuration(Date.parse(one.lastAt) - Date.parse(one.firstAt)),
  },
  {
    id: "errors",
    header: "Errors",
    width: "4.5rem",
    align: "right",
    sort: "errors",
    cell: (one) => <Errors count={one.errorCount} />,
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
    sort: "cost",
    cell: (one) => formatCost(one.cost),
  },
];

function SessionName({ session, search }: { session: Session; search: string }) {
  return (
    <RowLink
      href={`/sessions/${encodeURIComponent(session.sessionId)}${search}`}
      className="font-mono text-sm hover:text-accent"
    >
      {session.sessionId}
    </RowLink>
  );
}

function Errors({ count }: { count: number }) {
  if (count === 0) return <span className="text-faint">0</span>;
  return (
    <span title={`${formatCount(count)} failed ${count === 1 ? "trace" : "traces"}`}>
      <Badge tone="bad">{formatCount(count)}</Badge>
    </span>
  );
}

function Agents({ names }: { names: string[] }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1.5" title={names.join(", ")}>
      {names[0] && <Dot colour={colourOf("agent", names[0])} />}
      <span className="truncate">{names.join(", ")}</span>
    </span>
  );
}
