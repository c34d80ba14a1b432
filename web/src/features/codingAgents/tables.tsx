/** People and sessions as tables. */
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { colourOf } from "@/lib/colours";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
} from "@/lib/format";
import { previewText } from "@/lib/messages";
import { useKeptSearch } from "@/lib/range";
import { Dot } from "@/ui/Badge";
import { Panel } from "@/ui/Panel";
import { type Column, RowLink, Table } from "@/ui/Table";
import { Time } from "@/ui/Time";
import type { Report } from "./CodingAgentsPage";

type Person = Report["people"][number];
type Session = Report["sessions"][number];

const ROW = 32;
const MOST_ROWS = 10;

/** The height of a table with this many rows, up to ten. */
function heightOf(rows: number): number {
  return ROW * (Math.min(rows, MOST_ROWS) + 1) + 2;
}

function number(id: string, header: string, cell: (one: Person) => string): Column<Person> {
  return { id, header, width: "minmax(4.5rem, 1fr)", align: "right", cell };
}

const PEOPLE: Column<Person>[] = [
  {
    id: "person",
    header: "Person",
    width: "minmax(12rem, 2fr)",
    cell: (one) => <span title={one.person}>{one.person}</span>,
  },
  number("cost", "Cost", (one) => formatCost(one.cost)),
  number("tokens", "Tokens", (one) => formatCompact(one.inputTokens + one.outputTokens)),
  number("cache", "Cache hits", (one) => formatPercent(one.cacheHitRatio)),
  number("sessions", "Sessions", (one) => formatCount(one.sessions)),
  number("added", "Lines +", (one) => formatCompact(one.linesAdded)),
  number("removed", "Lines −", (one) => formatCompact(one.linesRemoved)),
  number("commits", "Commits", (one) => formatCount(one.commits)),
  number("pulls", "PRs", (one) => formatCount(one.pullRequests)),
  number("accepted", "Accepted", (one) =>
    formatPercent(one.editsAccepted / (one.editsAccepted + one.editsRejected)),
  ),
  number("active", "Active", (one) =>
    one.activeSeconds > 0 ? formatDuration(one.activeSeconds * 1000) : "–",
  ),
];

const BY_EMAIL = <span title="Users lists them by user id, if one is sent">e-mail address</span>;

export function PeopleTable({ report }: { report: Report }) {
  return (
    <Panel title="By person" unit={report.notSent.includes("person") ? "not sent" : BY_EMAIL}>
      <div className="-mx-3.5" style={{ height: heightOf(report.people.length) }}>
        <Table
          label="People"
          columns={PEOPLE}
          rows={report.people}
          rowKey={(one) => one.person}
          minWidth="62rem"
        />
      </div>
    </Panel>
  );
}

const sessionColumns = (kept: string): Column<Session>[] => [
  {
    id: "last",
    header: "Last call",
    width: "8.5rem",
    cell: (one) => <Time at={one.lastAt} as="precise" />,
  },
  {
    id: "agent",
    header: "Agent",
    width: "8rem",
    cell: (one) => (
      <span className="inline-flex items-center gap-1.5">
        <Dot colour={colourOf("agent", one.agent)} />
        {one.agent}
      </span>
    ),
  },
  {
    id: "prompt",
    header: "First prompt",
    width: "minmax(12rem, 2fr)",
    cell: (one) => (
      <RowLink
        href={`/sessions/${encodeURIComponent(one.sessionId)}${kept}`}
        className="hover:text-accent"
      >
        {previewText(one.inputPreview) || (
          <span className="font-mono text-sm">{one.sessionId}</span>
        )}
      </RowLink>
    ),
  },
  { id: "person", header: "Person", width: "minmax(8rem, 1fr)", cell: (one) => one.person },
  {
    id: "repository",
    header: "Repository",
    width: "minmax(7rem, 1fr)",
    cell: (one) => one.repository ?? "–",
  },
  {
    id: "traces",
    header: "Traces",
    width: "4rem",
    align: "right",
    cell: (one) => formatCount(one.traces),
  },
  {
    id: "tools",
    header: "Tool calls",
    width: "5rem",
    align: "right",
    cell: (one) => formatCount(one.toolCalls),
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

export function SessionTable({ report }: { report: Report }) {
  const kept = useKeptSearch();
  const navigate = useNavigate();
  const columns = useMemo(() => sessionColumns(kept), [kept]);
  const rows = report.sessions;
  return (
    <Panel title="Latest sessions" unit={rows.length === 0 ? undefined : "prompts, answers, tools"}>
      {rows.length === 0 ? (
        <p className="py-4 text-sm text-muted">
          No sessions. Agents report their calls as logs or spans; metrics alone have no sessions to
          read.
        </p>
      ) : (
        <div className="-mx-3.5" style={{ height: heightOf(rows.length) }}>
          <Table
            label="Sessions"
            columns={columns}
            rows={rows}
            rowKey={(one) => one.sessionId}
            onOpen={(one) =>
              void navigate({ to: `/sessions/${encodeURIComponent(one.sessionId)}` })
            }
            minWidth="64rem"
          />
        </div>
      )}
    </Panel>
  );
}
