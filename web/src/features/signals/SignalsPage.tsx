/** Feedback and evaluation results: the trend and distribution of each signal. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ThumbsUp } from "lucide-react";
import { useMemo } from "react";
import { api, type Schemas, unwrap } from "@/lib/api";
import { FilteredRowsContext, SIGNALS } from "@/lib/filterFields";
import { formatCompact, formatCount } from "@/lib/format";
import { rangeQuery, useRange } from "@/lib/range";
import { useUrl, useUrlState } from "@/lib/url";
import { CodeBlock } from "@/ui/CodeBlock";
import { cx } from "@/ui/cx";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { PageBody } from "@/ui/Panel";
import { Sparkline } from "@/ui/Sparkline";
import { EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { signalGranularity } from "./distribution";
import { SignalDetail } from "./SignalDetail";
import { describeMean } from "./share";

type Summary = Schemas["SignalSummary"];

const EXAMPLE = `curl -s $API/signals -H "x-api-key: $KEY" -H 'Content-Type: application/json' \\
  -d '{"signalName": "thumbs_up", "value": 1, "traceId": "4bf92f3577b34da6a3ce929d0e0e4736"}'`;

function useSummaries() {
  const range = useRange();
  const { agent, filters } = useUrl();
  const granularity = signalGranularity(range);
  const query = { ...rangeQuery(range), granularity, agentId: agent, filters };
  return useQuery({
    queryKey: ["signals", "summary", query],
    queryFn: () => unwrap(api.GET("/api/signals/summary", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}

export default function SignalsPage() {
  const { filters } = useUrl();
  const [chosen, setChosen] = useUrlState("signal", "");
  const { data, error, refetch, isPending } = useSummaries();
  const current = useMemo(
    () => data?.find((one) => one.signalName === chosen) ?? data?.[0],
    [data, chosen],
  );
  return (
    <PageBody title="Signals" actions={<ViewsButton page="signals" />}>
      <FilteredRowsContext value={SIGNALS}>
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <UrlFilterButton />
          <UrlChips />
        </div>
      </FilteredRowsContext>
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-[30rem]" />}
      {data?.length === 0 && filters && (
        <EmptyState icon={<ThumbsUp className="size-6" />} title="No signals match" />
      )}
      {data?.length === 0 && !filters && (
        <EmptyState icon={<ThumbsUp className="size-6" />} title="No signals in this period">
          <p className="mb-3">
            A signal is a named number, for example a thumbs-up, a score or an evaluation result.
            Send one with the id of its trace:
          </p>
          <div className="text-left">
            <CodeBlock code={EXAMPLE} label="Send a signal" />
          </div>
        </EmptyState>
      )}
      {data && current && (
        <div className="grid items-start gap-3 lg:grid-cols-[18rem_minmax(0,1fr)]">
          <ul
            aria-label="Signals"
            className="overflow-hidden rounded-lg border bg-surface max-lg:max-h-64 max-lg:overflow-auto"
          >
            {data.map((summary) => (
              <SignalRow
                key={summary.signalName}
                summary={summary}
                isChosen={summary === current}
                onPick={() => setChosen(summary.signalName)}
              />
            ))}
          </ul>
          <SignalDetail key={current.signalName} summary={current} />
        </div>
      )}
    </PageBody>
  );
}

function SignalRow({
  summary,
  isChosen,
  onPick,
}: {
  summary: Summary;
  isChosen: boolean;
  onPick: () => void;
}) {
  return (
    <li className="border-b last:border-0">
      <button
        type="button"
        aria-current={isChosen}
        onClick={onPick}
        className={cx(
          "flex w-full items-center gap-3 px-3.5 py-2 text-left",
          isChosen ? "bg-accent-soft" : "hover:bg-hover",
        )}
      >
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{summary.signalName}</span>
          <span className="block text-sm text-muted">
            {formatCount(summary.count)} · {describeMean(summary)}
          </span>
        </span>
        <span className="w-20 shrink-0" title={`${formatCompact(summary.count)} over time`}>
          <Sparkline values={summary.trend.map((point) => point.avg)} height={24} />
        </span>
      </button>
    </li>
  );
}
