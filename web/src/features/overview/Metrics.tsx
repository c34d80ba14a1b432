/** Key metrics: value, change against the previous period, and trend. */

import { type Meaning, PERCENTILE_NOTE } from "@/lib/analyticsQuery";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
} from "@/lib/format";
import { SERIES } from "@/lib/series";
import { Change } from "@/ui/Change";
import { Sparkline } from "@/ui/Sparkline";
import { Skeleton } from "@/ui/states";
import type { Overview } from "./queries";

interface Figure {
  label: string;
  value: number | undefined;
  before: number | undefined;
  show: (value: number) => string;
  meaning: Meaning;
  values: (number | null)[];
  colour: string;
  note?: string | undefined;
  /** How exact the value is, unless it is exact. */
  precision?: string;
}

/** The previous period, unless it had too little traffic to compare with. */
function comparable(now: Overview["metrics"]["data"]) {
  const before = now?.previous ?? undefined;
  return now && before && before.totalTraces * 50 >= now.totalTraces ? before : undefined;
}

function figures({ metrics, requests, percentiles, tokens, costs, errorRate }: Overview): Figure[] {
  const now = metrics.data;
  const before = comparable(now);
  const hadTraffic = before && before.totalTraces > 0 ? before : undefined;
  return [
    {
      label: "Traces",
      value: now?.totalTraces,
      before: before?.totalTraces,
      show: formatCount,
      meaning: "neutral",
      values: requests.data?.map((point) => point.total) ?? [],
      colour: "var(--measure-1)",
    },
    {
      label: "Success rate",
      value: now?.totalTraces ? now.successRate : undefined,
      before: hadTraffic?.successRate,
      show: formatPercent,
      meaning: "high is good",
      values: errorRate.data?.map((point) => (point.total ? 1 - point.errorRate : null)) ?? [],
      colour: "var(--good)",
    },
    {
      label: "p95 latency",
      value: now?.totalTraces ? now.p95Latency : undefined,
      before: hadTraffic?.p95Latency,
      show: formatDuration,
      meaning: "low is good",
      values: percentiles.data?.map((point) => point.p95) ?? [],
      colour: SERIES.p95.colour,
      note: now?.totalTraces ? `mean ${formatDuration(now.avgLatency)}` : undefined,
      precision: PERCENTILE_NOTE,
    },
    {
      label: "Tokens",
      value: now?.totalTokens,
      before: before?.totalTokens,
      show: formatCompact,
      meaning: "neutral",
      values: tokens.data?.map((point) => point.totalTokens) ?? [],
      colour: SERIES.tokens.colour,
    },
    {
      label: "Cost",
      value: now?.estimatedCost,
      before: before?.estimatedCost,
      show: formatCost,
      meaning: "low is good",
      values: costs.data?.trend.map((point) => point.cost) ?? [],
      colour: SERIES.cost.colour,
      note: now?.totalTraces
        ? `${formatCost(now.estimatedCost / now.totalTraces)} per trace`
        : undefined,
    },
    {
      label: "Active agents",
      value: now?.activeAgents,
      before: before?.activeAgents,
      show: formatCount,
      meaning: "neutral",
      values:
        requests.data?.map((point) => Object.values(point.byAgent).filter(Boolean).length) ?? [],
      colour: "var(--muted)",
    },
  ];
}

export function Metrics({ overview }: { overview: Overview }) {
  return (
    <section
      aria-label="Key metrics"
      className="mb-3 grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line md:grid-cols-3 xl:grid-cols-6"
    >
      {figures(overview).map((figure) => (
        <Tile key={figure.label} figure={figure} isLoading={overview.metrics.isPending} />
      ))}
    </section>
  );
}

function Tile({ figure, isLoading }: { figure: Figure; isLoading: boolean }) {
  const { label, value, show, note } = figure;
  return (
    <div className="flex min-w-0 flex-col bg-surface px-3.5 pt-2.5 pb-2">
      <h2 className="text-sm text-muted">{label}</h2>
      <div className="mt-0.5 flex h-7 items-baseline gap-2">
        {isLoading ? (
          <Skeleton className="mt-1 h-5 w-20" />
        ) : (
          <>
            <span className="text-2xl font-semibold tracking-tight" title={figure.precision}>
              {value === undefined ? "–" : show(value)}
            </span>
            <Change {...figure} />
          </>
        )}
      </div>
      <p className="h-4 truncate text-xs text-faint">{note}</p>
      <div className="mt-1.5">
        <Sparkline
          values={figure.values}
          colour={figure.colour}
          fromZero={figure.meaning !== "high is good"}
        />
      </div>
    </div>
  );
}
