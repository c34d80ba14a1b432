/** One signal: its numbers, trend, distribution, agents and latest values. */
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, type Schemas, type Signal, unwrap, unwrapPage } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { capitalize, formatCount, formatCounted, formatNumber, formatPercent } from "@/lib/format";
import { useFilterValues } from "@/lib/queries";
import { rangeQuery, useRange } from "@/lib/range";
import { SERIES } from "@/lib/series";
import { useUrl } from "@/lib/url";
import { BarList } from "@/ui/BarList";
import type { Series } from "@/ui/chart/series";
import { TimeChart } from "@/ui/chart/TimeChart";
import { cx } from "@/ui/cx";
import { Panel } from "@/ui/Panel";
import { SignalLabel } from "@/ui/SignalLabel";
import { QueryResult } from "@/ui/states";
import { Time } from "@/ui/Time";
import { binLabel, signalGranularity } from "./distribution";
import { factsOf, formatValue, isShare } from "./share";

type Summary = Schemas["SignalSummary"];

const LATEST = 12;
const MAX_AGENTS = 8;

function useLatest(signalName: string) {
  const range = useRange();
  const { agent, filters } = useUrl();
  const query = { ...rangeQuery(range), signalName, agentId: agent, filters, limit: LATEST };
  return useQuery({
    queryKey: ["signals", "latest", query],
    queryFn: () => unwrapPage(api.GET("/api/signals", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}

export function SignalDetail({ summary }: { summary: Summary }) {
  const range = useRange();
  const { agent } = useUrl();
  const latest = useLatest(summary.signalName);
  const dates = useMemo(() => summary.trend.map((point) => point.date), [summary]);
  const isOfShare = isShare(summary);
  const what = isOfShare ? "share of positive values" : "mean";
  const mean = useMemo<Series[]>(
    () => [
      {
        name: what,
        colour: SERIES.count.colour,
        values: summary.trend.map((point) => point.avg),
      },
    ],
    [summary, what],
  );
  const counts = useMemo<Series[]>(
    () => [
      {
        name: "signals",
        colour: SERIES.count.colour,
        type: "bar",
        values: summary.trend.map((point) => point.count),
      },
    ],
    [summary],
  );
  return (
    <div className="grid min-w-0 gap-3 xl:grid-cols-2">
      <dl
        className={cx(
          "grid gap-3 xl:col-span-2",
          isOfShare ? "grid-cols-2 xl:grid-cols-4" : "grid-cols-3 xl:grid-cols-6",
        )}
      >
        {factsOf(summary).map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
      <Panel title="Trend" unit={`${what} of ${summary.signalName}`}>
        <TimeChart
          label={`${capitalize(what)} of ${summary.signalName} over time`}
          dates={dates}
          granularity={signalGranularity(range)}
          series={mean}
          format={isOfShare ? formatPercent : formatNumber}
          hasLegend={false}
        />
      </Panel>
      <Panel title="Volume" unit="signals">
        <TimeChart
          label={`Number of ${summary.signalName} over time`}
          dates={dates}
          granularity={signalGranularity(range)}
          series={counts}
          format={formatCount}
          hasLegend={false}
        />
      </Panel>
      <div className="flex min-w-0 flex-col gap-3">
        <Distribution signalName={summary.signalName} isOfShare={isOfShare} />
        {!agent && <ByAgent signalName={summary.signalName} isOfShare={isOfShare} />}
      </div>
      <Latest signals={latest.data?.items ?? []} isOfShare={isOfShare} />
    </div>
  );
}

interface OfSignal {
  signalName: string;
  isOfShare: boolean;
}

/** All values of the range, not only the latest. */
function Distribution({ signalName, isOfShare }: OfSignal) {
  const range = useRange();
  const { agent, filters } = useUrl();
  const query = { ...rangeQuery(range), signalName, agentId: agent, filters };
  const histogram = useQuery({
    queryKey: ["signals", "histogram", query],
    queryFn: () => unwrap(api.GET("/api/signals/histogram", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel
      title="Distribution"
      unit={histogram.data && `of ${formatCounted(histogram.data.count, "value")}`}
    >
      <QueryResult query={histogram} height={192}>
        {({ bins, count }) => (
          <BarList
            bars={bins.map((bin) => ({
              key: String(bin.start),
              label: isOfShare ? formatValue(bin.start, true) : binLabel(bin),
              value: bin.count,
              shown: formatCount(bin.count),
              note: formatPercent(bin.count / count),
            }))}
          />
        )}
      </QueryResult>
    </Panel>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="min-w-0 rounded-lg border bg-surface px-3.5 py-2">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="truncate text-lg font-semibold" title={value}>
        {value}
      </dd>
    </div>
  );
}

function ByAgent({ signalName, isOfShare }: OfSignal) {
  const range = useRange();
  const { filters } = useUrl();
  const { data: values } = useFilterValues();
  const agents = values?.agents.slice(0, MAX_AGENTS) ?? [];
  const { bars, isPending } = useQueries({
    queries: agents.map(({ name }) => {
      const query = { ...rangeQuery(range), signalName, agentId: name, filters };
      return {
        queryKey: ["signals", "by-agent", query],
        queryFn: () => unwrap(api.GET("/api/signals/summary", { params: { query } })),
        placeholderData: keepPreviousData,
      };
    }),
    combine: (answers) => ({
      isPending: !values || answers.some((answer) => answer.isPending),
      bars: answers.flatMap((answer, index) => {
        const [found] = answer.data ?? [];
        const name = agents[index]?.name ?? "";
        return found ? [{ name, summary: found }] : [];
      }),
    }),
  });
  return (
    <Panel title="By agent" unit={isOfShare ? "positive" : "mean"}>
      <BarList
        bars={bars.map(({ name, summary }) => ({
          key: name,
          label: name,
          value: summary.avg ?? 0,
          shown: isOfShare ? formatPercent(summary.avg) : formatNumber(summary.avg),
          note: formatCount(summary.count),
          colour: colourOf("agent", name),
        }))}
        empty={isPending ? "Loading" : "No agents with this signal"}
      />
    </Panel>
  );
}

function Latest({ signals, isOfShare }: { signals: Signal[]; isOfShare: boolean }) {
  return (
    <Panel title="Latest">
      <ul>
        {signals.map((signal) => (
          <li key={signal.id} className="flex h-8 items-center gap-3 border-b last:border-0">
            <span className="w-20 shrink-0 text-muted">
              <Time at={signal.timestamp} />
            </span>
            <span className="w-14 shrink-0 text-right font-medium">
              {formatValue(signal.value, isOfShare)}
            </span>
            <SignalLabel signal={signal} />
            <span
              className="min-w-0 flex-1 truncate text-muted"
              title={signal.comment ?? undefined}
            >
              {signal.comment}
            </span>
            {signal.traceId && (
              <Link
                to="/traces/$traceId"
                params={{ traceId: signal.traceId }}
                className="shrink-0 text-accent hover:underline"
              >
                Trace
              </Link>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
