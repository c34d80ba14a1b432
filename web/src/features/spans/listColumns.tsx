/** The columns of the list of single spans. */
import type { Schemas } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCost, formatDuration } from "@/lib/format";
import { Dot } from "@/ui/Badge";
import { ErrorBadge } from "@/ui/ErrorBadge";
import { KindIcon } from "@/ui/kinds";
import { type Column, RowLink } from "@/ui/Table";
import { Time } from "@/ui/Time";

type ListedSpan = Schemas["ListedSpan"];

export function listColumns(hrefOf: (span: ListedSpan) => string): Column<ListedSpan>[] {
  return [
    {
      id: "name",
      header: "Span",
      width: "minmax(11rem, 3fr)",
      leads: true,
      narrowWidth: "11rem",
      cell: (span) => (
        <span className="flex min-w-0 items-center gap-2">
          <KindIcon kind={span.kind} />
          <RowLink href={hrefOf(span)} title={span.name} className="truncate hover:text-accent">
            {span.name}
          </RowLink>
        </span>
      ),
    },
    {
      id: "duration",
      header: "Duration",
      width: "minmax(5.5rem, 1fr)",
      align: "right",
      sort: "duration",
      cell: (span) => formatDuration(span.durationMs),
    },
    {
      id: "firstToken",
      header: <abbr title="Time to first token">TTFT</abbr>,
      width: "minmax(5rem, 1fr)",
      align: "right",
      cell: (span) => formatDuration(span.timeToFirstTokenMs),
    },
    {
      id: "cost",
      header: "Cost",
      width: "minmax(5rem, 1fr)",
      align: "right",
      sort: "cost",
      cell: (span) => formatCost(span.cost),
    },
    {
      id: "agent",
      header: "Agent",
      width: "minmax(8rem, 2fr)",
      cell: ({ agentName }) =>
        agentName && (
          <span className="flex min-w-0 items-center gap-2" title={agentName}>
            <Dot colour={colourOf("agent", agentName)} />
            <span className="truncate">{agentName}</span>
          </span>
        ),
    },
    {
      id: "target",
      header: "Model or tool",
      width: "minmax(8rem, 2fr)",
      cell: ({ model, toolName }) => {
        const name = toolName ?? model;
        return name && <span title={name}>{name}</span>;
      },
    },
    {
      id: "error",
      header: "Error",
      width: "minmax(6rem, 1fr)",
      cell: (span) => span.status === "error" && <ErrorBadge of={span} />,
    },
    {
      id: "start",
      header: "Start",
      width: "minmax(8rem, 1fr)",
      align: "right",
      sort: "startTime",
      cell: (span) => <Time at={span.startTime} as="precise" />,
    },
  ];
}
