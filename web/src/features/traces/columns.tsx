/** The columns of the trace list; the URL says which are shown. */

import type { Trace } from "@/lib/api";
import { formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { SERIES } from "@/lib/series";
import { useUrl } from "@/lib/url";
import type { Column } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { UserLink } from "@/ui/UserLink";
import { Listed, Measured, Models, Name, SessionLink, Words } from "./cells";

export interface Scale {
  duration: number;
  cost: number;
}

type ListColumn = Column<Trace> & { title: string };

export const DEFAULT_COLUMNS = [
  "time",
  "name",
  "input",
  "output",
  "duration",
  "tokens",
  "cost",
  "model",
];

export function useColumnIds(): string[] {
  const { cols } = useUrl();
  return cols ? cols.split(",") : DEFAULT_COLUMNS;
}

/** `kept` is what links preserve of the query string; those to traces also say what is listed. */
export function allColumns(scale: Scale, kept = "", traceSearch = kept): ListColumn[] {
  return [
    {
      id: "time",
      title: "Time",
      header: "Time",
      width: "8.5rem",
      sort: "startTime",
      cell: (trace) => <Time at={trace.startTime} as="precise" />,
    },
    {
      id: "name",
      title: "Name",
      header: "Name",
      width: "minmax(12rem, 1.2fr)",
      leads: true,
      narrowWidth: "minmax(11rem, 1.2fr)",
      cell: (trace) => <Name trace={trace} search={traceSearch} />,
    },
    {
      id: "input",
      title: "Input",
      header: "Input",
      width: "minmax(8rem, 1.3fr)",
      cell: (trace) => <Words text={trace.inputPreview} />,
    },
    {
      id: "output",
      title: "Output",
      header: "Output",
      width: "minmax(8rem, 1.3fr)",
      cell: (trace) => <Words text={trace.outputPreview} />,
    },
    {
      id: "duration",
      title: "Duration",
      header: "Duration",
      width: "7rem",
      align: "right",
      sort: "duration",
      cell: (trace) => (
        <Measured share={trace.durationMs / scale.duration} colour={SERIES.p95.colour}>
          {formatDuration(trace.durationMs)}
        </Measured>
      ),
    },
    {
      id: "tokens",
      title: "Tokens",
      header: "Tokens",
      width: "4.5rem",
      align: "right",
      sort: "tokens",
      cell: (trace) => (
        <span
          title={`${formatCount(trace.inputTokens)} in, ${formatCount(trace.outputTokens)} out`}
        >
          {formatCompact(trace.totalTokens)}
        </span>
      ),
    },
    {
      id: "cost",
      title: "Cost",
      header: "Cost",
      width: "6rem",
      align: "right",
      sort: "cost",
      cell: (trace) => (
        <Measured share={trace.cost / scale.cost} colour={SERIES.cost.colour}>
          {formatCost(trace.cost)}
        </Measured>
      ),
    },
    {
      id: "model",
      title: "Models",
      header: "Models",
      width: "9rem",
      cell: (trace) => <Models models={trace.models} />,
    },
    {
      id: "tools",
      title: "Tools",
      header: "Tools",
      width: "9rem",
      cell: (trace) => <Listed names={trace.tools} />,
    },
    {
      id: "spans",
      title: "Spans",
      header: "Spans",
      width: "4rem",
      align: "right",
      cell: (trace) => formatCount(trace.spanCount),
    },
    {
      id: "user",
      title: "User",
      header: "User",
      width: "7rem",
      cell: (trace) => <UserLink userId={trace.userId} kept={kept} />,
    },
    {
      id: "session",
      title: "Session",
      header: "Session",
      width: "8rem",
      cell: (trace) => <SessionLink trace={trace} />,
    },
    {
      id: "environment",
      title: "Environment",
      header: "Environment",
      width: "7rem",
      cell: (trace) => trace.environment,
    },
    {
      id: "variant",
      title: "Variant",
      header: "Variant",
      width: "6rem",
      cell: (trace) => trace.variant,
    },
  ];
}
