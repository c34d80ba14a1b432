/** One user: totals, traces and cost over time, the latest traces, sessions and signals. */

import { Link, useParams } from "@tanstack/react-router";
import { User } from "lucide-react";
import { useMemo } from "react";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
} from "@/lib/format";
import { numberOf, pageConditions, useGroups } from "@/lib/groups";
import { autoGranularity, useRange } from "@/lib/range";
import { SERIES } from "@/lib/series";
import { useShownName } from "@/lib/title";
import { useUrl } from "@/lib/url";
import { LEGEND_HEIGHT, TimeChart } from "@/ui/chart/TimeChart";
import { Figure, Figures } from "@/ui/Figures";
import { PageBody, Panel } from "@/ui/Panel";
import { EmptyState, ErrorState, QueryResult } from "@/ui/states";
import { LatestSessions, LatestSignals, LatestTraces } from "./panels";

const HEIGHT = 180;

export default function UserPage() {
  const { userId = "" } = useParams({ strict: false }) as { userId?: string };
  useShownName(userId);
  const { data, isPlaceholderData } = useTotals(userId);
  // Data of another range says nothing about this one.
  const hasNoTraces = data && !isPlaceholderData && !numberOf(data.rows[0], "count");
  return (
    <PageBody
      title={<span className="[overflow-wrap:anywhere]">{userId}</span>}
      crumbs={[{ label: "Users", to: "/users" }]}
      actions={<Links userId={userId} />}
    >
      {hasNoTraces ? (
        <>
          <NoTraces />
          <LatestSignals userId={userId} />
        </>
      ) : (
        <div className="grid gap-3 lg:grid-cols-2">
          <Totals userId={userId} />
          <OverTime userId={userId} />
          <CostOverTime userId={userId} />
          <LatestTraces userId={userId} />
          <LatestSessions userId={userId} />
          <LatestSignals userId={userId} />
        </div>
      )}
    </PageBody>
  );
}

function NoTraces() {
  const { label } = useRange();
  const { agent, env } = useUrl();
  const filters = [agent && `agent ${agent}`, env && `environment ${env}`].filter(Boolean);
  return (
    <EmptyState
      title={
        filters.length > 0
          ? "No traces of this user match the filters"
          : "No traces of this user in this period"
      }
      icon={<User className="size-6" />}
    >
      The period is: {label}.{" "}
      {filters.length > 0
        ? `Only this counts: ${filters.join(", ")}. Choose a longer period or remove the filter.`
        : "Choose a longer one, or check the id."}
    </EmptyState>
  );
}

function Links({ userId }: { userId: string }) {
  const style =
    "inline-flex h-8 items-center rounded-md border border-line-strong bg-surface px-2.5 hover:bg-hover";
  const filters = JSON.stringify([{ field: "userId", op: "eq", value: userId }]);
  return (
    <>
      <Link to="/traces" search={{ filters }} className={style}>
        All traces
      </Link>
      <Link to="/sessions" search={{ filters }} className={style}>
        All sessions
      </Link>
    </>
  );
}

function useConditionsOf(userId: string) {
  return [{ field: "userId", op: "eq" as const, value: userId }, ...pageConditions(useUrl())];
}

const MEASURES = [
  "count",
  "errors",
  "errorRate",
  "cost",
  "inputTokens",
  "outputTokens",
  "sessions",
  "p95",
];

function useTotals(userId: string) {
  return useGroups({ measures: MEASURES, filters: useConditionsOf(userId) });
}

function Totals({ userId }: { userId: string }) {
  const { data, error, refetch } = useTotals(userId);
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const row = data?.rows[0];
  const errors = numberOf(row, "errors");
  return (
    <Figures className="lg:col-span-2">
      <Figure name="Traces" value={formatCount(numberOf(row, "count"))} />
      <Figure name="Sessions" value={formatCount(numberOf(row, "sessions"))} />
      <Figure
        name="Error rate"
        value={formatPercent(numberOf(row, "errorRate"))}
        note={`${formatCount(errors)} failed`}
        isBad={(numberOf(row, "errorRate") ?? 0) > 0.05}
      />
      <Figure name="p95 latency" value={formatDuration(numberOf(row, "p95"))} />
      <Figure
        name="Tokens"
        value={formatCompact(
          (numberOf(row, "inputTokens") ?? 0) + (numberOf(row, "outputTokens") ?? 0),
        )}
        note={`${formatCompact(numberOf(row, "outputTokens"))} of output`}
      />
      <Figure name="Cost" value={formatCost(numberOf(row, "cost"))} />
    </Figures>
  );
}

function useSeries(userId: string) {
  const granularity = autoGranularity(useRange());
  const query = useGroups({
    measures: ["count", "errors", "cost"],
    filters: useConditionsOf(userId),
    granularity,
  });
  return { granularity, query };
}

function OverTime({ userId }: { userId: string }) {
  const { granularity, query } = useSeries(userId);
  const drawn = useMemo(() => {
    const rows = query.data?.rows ?? [];
    const bars = { type: "bar", stack: "all" } as const;
    const failed = rows.map((row) => numberOf(row, "errors") ?? 0);
    const succeeded = rows.map((row, at) => (numberOf(row, "count") ?? 0) - (failed[at] ?? 0));
    return {
      dates: rows.map((row) => String(row.date)),
      series: [
        { ...bars, ...SERIES.success, values: succeeded },
        { ...bars, ...SERIES.errors, values: failed },
      ],
    };
  }, [query.data]);
  return (
    <Panel title="Traces">
      <QueryResult query={query} height={HEIGHT + LEGEND_HEIGHT}>
        {() => (
          <TimeChart
            {...drawn}
            label={`Traces of ${userId} over time`}
            granularity={granularity}
            format={formatCount}
            height={HEIGHT}
          />
        )}
      </QueryResult>
    </Panel>
  );
}

function CostOverTime({ userId }: { userId: string }) {
  const { granularity, query } = useSeries(userId);
  const drawn = useMemo(() => {
    const rows = query.data?.rows ?? [];
    const values = rows.map((row) => numberOf(row, "cost") ?? 0);
    return {
      dates: rows.map((row) => String(row.date)),
      series: [{ type: "bar" as const, ...SERIES.cost, values }],
    };
  }, [query.data]);
  return (
    <Panel title="Cost" unit="USD">
      <QueryResult query={query} height={HEIGHT + LEGEND_HEIGHT}>
        {() => (
          <TimeChart
            {...drawn}
            label={`Cost of ${userId} over time`}
            granularity={granularity}
            format={formatCost}
            height={HEIGHT}
          />
        )}
      </QueryResult>
    </Panel>
  );
}
