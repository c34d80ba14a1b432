/** The groupings of the spans page and their columns. */
import { colourOf } from "@/lib/colours";
import type { Condition } from "@/lib/conditions";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
} from "@/lib/format";
import { type Group, numberOf } from "@/lib/groups";
import { Dot } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { type Column, RowLink } from "@/ui/Table";

/** What is drawn over time: measures of all spans, or one measure of the largest groups. */
export interface Chart {
  title: string;
  measures: string[];
  isByGroup: boolean;
  type: "bar" | "line";
  format: (value: number) => string;
}

export interface Grouping {
  id: string;
  label: string;
  noun: string;
  groupBy: string[];
  measures: string[];
  /** The width below which the table scrolls. */
  minWidth: string;
  sort: string;
  /** What the number of spans is called. */
  counted: string;
  chart: Chart;
  filters: Condition[];
  empty: string;
  hint: string;
}

const LATENCY = ["p50", "p95", "p99"];
const OUTCOMES = ["count", "errors", "errorRate"];
const FIRST_TOKEN = ["p50TimeToFirstToken", "p95TimeToFirstToken"];
const TOKEN_CLASSES = [
  ...["inputTokens", "cachedTokens", "cacheWriteTokens"],
  ...["outputTokens", "reasoningTokens"],
];

export const TOOLS: Grouping = {
  id: "tools",
  label: "Tools",
  noun: "tool",
  groupBy: ["tool"],
  // On a phone only the first columns are visible without scrolling.
  measures: [...LATENCY, ...OUTCOMES],
  minWidth: "44rem",
  sort: "p95",
  counted: "Calls",
  chart: {
    title: "p95 latency of the slowest tools",
    measures: ["p95"],
    isByGroup: true,
    type: "line",
    format: formatDuration,
  },
  filters: [
    { field: "kind", op: "eq", value: "tool" },
    { field: "tool", op: "exists" },
  ],
  empty: "No tool calls in this period",
  hint: "Spans of tools appear here, the slowest first.",
};

export const GROUPINGS: readonly Grouping[] = [
  TOOLS,
  {
    id: "models",
    label: "Models",
    noun: "model",
    groupBy: ["model", "provider"],
    minWidth: "92rem",
    measures: ["count", "errorRate", "p50", "p95", ...FIRST_TOKEN, ...TOKEN_CLASSES, "cost"],
    sort: "cost",
    counted: "Spans",
    chart: {
      title: "Tokens by type",
      measures: TOKEN_CLASSES,
      isByGroup: false,
      type: "bar",
      format: formatCompact,
    },
    filters: [{ field: "model", op: "exists" }],
    empty: "No model calls in this period",
    hint: "Calls of models appear here, the costliest first.",
  },
  {
    id: "kinds",
    label: "Kinds",
    noun: "kind",
    groupBy: ["kind"],
    measures: [...OUTCOMES, ...LATENCY, "cost"],
    minWidth: "64rem",
    sort: "count",
    counted: "Spans",
    chart: {
      title: "Spans by kind",
      measures: ["count"],
      isByGroup: true,
      type: "bar",
      format: formatCount,
    },
    filters: [],
    empty: "No spans in this period",
    hint: "Spans of your application appear here within a second.",
  },
];

export function nameOf(row: Group, { groupBy }: Grouping): string {
  return groupBy.map((field) => row[field] ?? "–").join(" ");
}

interface Measure {
  header: string;
  width: string;
  show: (value: number | null) => string;
}

const MEASURES: Record<string, Measure> = {
  count: { header: "Spans", width: "minmax(4rem, 1fr)", show: formatCount },
  errors: { header: "Errors", width: "minmax(5rem, 1fr)", show: formatCount },
  errorRate: { header: "Error rate", width: "minmax(5.5rem, 1fr)", show: formatPercent },
  p50: { header: "p50", width: "minmax(5rem, 1fr)", show: formatDuration },
  p95: { header: "p95", width: "minmax(5rem, 1fr)", show: formatDuration },
  p99: { header: "p99", width: "minmax(5rem, 1fr)", show: formatDuration },
  p50TimeToFirstToken: { header: "TTFT p50", width: "minmax(5rem, 1fr)", show: formatDuration },
  p95TimeToFirstToken: { header: "TTFT p95", width: "minmax(5rem, 1fr)", show: formatDuration },
  inputTokens: { header: "Input tokens", width: "minmax(6.5rem, 1fr)", show: formatCompact },
  cachedTokens: { header: "Cached tokens", width: "minmax(6.5rem, 1fr)", show: formatCompact },
  cacheWriteTokens: { header: "Cache writes", width: "minmax(6.5rem, 1fr)", show: formatCompact },
  reasoningTokens: { header: "Reasoning", width: "minmax(6.5rem, 1fr)", show: formatCompact },
  outputTokens: { header: "Output tokens", width: "minmax(6.5rem, 1fr)", show: formatCompact },
  cost: { header: "Cost", width: "minmax(5rem, 1fr)", show: formatCost },
};

export function spanColumns(grouping: Grouping, hrefOf: (row: Group) => string): Column<Group>[] {
  const [first = "", second] = grouping.groupBy;
  return [
    {
      id: "name",
      header: grouping.label.replace(/s$/, ""),
      width: "minmax(10rem, 3fr)",
      leads: true,
      cell: (row) => (
        <span className="flex min-w-0 items-center gap-2">
          {first === "model" && <Dot colour={colourOf("model", String(row[first]))} />}
          <RowLink
            href={hrefOf(row)}
            title={nameOf(row, grouping)}
            className="truncate hover:text-accent"
          >
            {String(row[first])}
          </RowLink>
          {second && <span className="truncate text-muted">{String(row[second] ?? "")}</span>}
        </span>
      ),
    },
    ...grouping.measures.map((id) => numberColumn(id, grouping)),
  ];
}

function numberColumn(id: string, { counted }: Grouping): Column<Group> {
  const { header, width, show } = MEASURES[id] as Measure;
  return {
    id,
    header: id === "count" ? counted : header,
    width,
    align: "right",
    sort: id,
    cell: (row) => (
      <span className={cx(id === "errorRate" && (numberOf(row, id) ?? 0) > 0.05 && "text-bad")}>
        {show(numberOf(row, id))}
      </span>
    ),
  };
}
