/** One agent: how it is doing over the range, its latest traces, and what it is watched by. */
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { BellPlus, Settings2 } from "lucide-react";
import { useMemo } from "react";
import { describeRule, severityTone } from "@/lib/alerts";
import { type Agent, api, type Granularity, unwrap, unwrapPage } from "@/lib/api";
import { queries } from "@/lib/client";
import { colourOf } from "@/lib/colours";
import { formatCost, formatCount, formatDuration, formatPercent } from "@/lib/format";
import { previewText } from "@/lib/messages";
import { currentRange, rangeQuery, useRange } from "@/lib/range";
import { type Search, useUrl } from "@/lib/url";
import { Badge, Dot } from "@/ui/Badge";
import { BarList } from "@/ui/BarList";
import { Button } from "@/ui/Button";
import { LEGEND_HEIGHT, TimeChart } from "@/ui/chart/TimeChart";
import { PageBody, Panel } from "@/ui/Panel";
import { Answer, EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { figuresOf, useAgentFigures } from "./figures";

const HEIGHT = 180;

function useAgentId(): string {
  return (useParams({ strict: false }) as { agentId: string }).agentId;
}

export function useAgent() {
  const agentId = useAgentId();
  return useQuery({
    queryKey: ["agents", "one", agentId],
    queryFn: () => unwrap(api.GET("/api/agents/{agentId}", { params: { path: { agentId } } })),
  });
}

/** The agent as the page with all of them has it: who comes from there need not wait for it. */
function findListed(agentId: string): Agent | undefined {
  const lists = queries.getQueriesData<{ items: Agent[] }>({ queryKey: ["agents", "list"] });
  return lists.flatMap(([, list]) => list?.items ?? []).find((agent) => agent.id === agentId);
}

export function ask(url: Search, { agentId }: Record<string, string>) {
  const agent = findListed(agentId ?? "");
  if (!agent) return;
  const asked = figuresOf(agent.name, url, currentRange(url));
  void queries.prefetchQuery(asked.outcomes);
  void queries.prefetchQuery(asked.latency);
  void queries.prefetchQuery(asked.costs);
  void queries.prefetchQuery(asked.metrics);
  void queries.prefetchQuery(asked.tools);
}

export default function AgentPage() {
  const listed = findListed(useAgentId());
  const { data: agent = listed, error, refetch } = useAgent();
  if (error) {
    return (
      <ErrorState error={error} onRetry={() => void refetch()}>
        <Link to="/agents" className="text-accent hover:underline">
          All agents
        </Link>
      </ErrorState>
    );
  }
  return (
    <PageBody
      title={
        agent ? (
          <span className="flex flex-wrap items-center gap-2">
            <Dot colour={colourOf(agent.name)} />
            {agent.name}
            {agent.tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </span>
        ) : (
          <Skeleton className="h-6 w-52" />
        )
      }
      actions={agent && <Actions agent={agent} />}
    >
      <p className="-mt-2 mb-3 min-h-5 text-muted">{agent?.description}</p>
      {agent ? <Figures key={agent.id} agent={agent} /> : <Skeleton className="h-[36rem]" />}
    </PageBody>
  );
}

const LINK =
  "inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-surface px-2.5 hover:bg-hover";

function Actions({ agent }: { agent: Agent }) {
  return (
    <>
      <Link to="/traces" search={{ agent: agent.name } as never} className={LINK}>
        All traces
      </Link>
      <Link to="/agents/$agentId/rules" params={{ agentId: agent.id } as never} className={LINK}>
        <Settings2 className="size-3.5" aria-hidden /> Alert rules
      </Link>
    </>
  );
}

type Asked = ReturnType<typeof useAgentFigures>;
type Data<K extends keyof Asked> = Asked[K] extends UseQueryResult<infer T> ? T : never;
type PickDate = (date: string) => void;

function Figures({ agent }: { agent: Agent }) {
  const { granularity, metrics, outcomes, latency, costs, tools } = useAgentFigures(agent.name);
  const chart = { agent: agent.name, granularity };
  const navigate = useNavigate();
  const openTraces: PickDate = (date) =>
    void navigate({
      to: "/traces",
      search: { agent: agent.name, from: date, range: undefined } as never,
    });
  if (metrics.error && !metrics.data)
    return <ErrorState error={metrics.error} onRetry={() => void metrics.refetch()} />;
  return (
    <div className="grid gap-3 lg:grid-cols-2">
      <dl className="grid grid-cols-2 gap-3 md:grid-cols-5 lg:col-span-2">
        <Figure name="Traces" value={formatCount(metrics.data?.totalTraces)} />
        <Figure
          name="Error rate"
          value={formatPercent(metrics.data && 1 - metrics.data.successRate)}
        />
        <Figure name="Mean latency" value={formatDuration(metrics.data?.avgLatency)} />
        <Figure name="p95 latency" value={formatDuration(metrics.data?.p95Latency)} />
        <Figure name="Cost" value={formatCost(metrics.data?.estimatedCost)} />
      </dl>
      <Panel title="Requests" unit="traces">
        <Answer question={outcomes} height={HEIGHT + LEGEND_HEIGHT}>
          {({ trend }) => <Requests {...chart} trend={trend} onPick={openTraces} />}
        </Answer>
      </Panel>
      <Panel title="Latency" unit="of traces">
        <Answer question={latency} height={HEIGHT + LEGEND_HEIGHT}>
          {(points) => <Latency {...chart} points={points} />}
        </Answer>
      </Panel>
      <Panel title="Cost" unit="US dollars">
        <Answer question={costs} height={HEIGHT}>
          {({ trend }) => <Cost {...chart} trend={trend} />}
        </Answer>
      </Panel>
      <Panel title="Tools" unit="calls">
        <Answer question={tools} height={HEIGHT}>
          {({ heatmap }) => <Tools agent={agent} calls={heatmap[agent.name] ?? {}} />}
        </Answer>
      </Panel>
      <RecentTraces agent={agent} />
      <Rules agent={agent} />
    </div>
  );
}

interface ChartProps {
  agent: string;
  granularity: Granularity;
}

interface RequestsProps extends ChartProps {
  trend: Data<"outcomes">["trend"];
  onPick: PickDate;
}

function Requests({ agent, trend, granularity, onPick }: RequestsProps) {
  const drawn = useMemo(() => {
    const bars = { type: "bar", stack: "all" } as const;
    const succeeded = trend.map((point) => point.success);
    const failed = trend.map((point) => point.failure);
    return {
      dates: trend.map((point) => point.date),
      series: [
        { ...bars, name: "succeeded", colour: "var(--good)", values: succeeded },
        { ...bars, name: "failed", colour: "var(--bad)", values: failed },
      ],
    };
  }, [trend]);
  return (
    <TimeChart
      label={`Traces of ${agent} over time, by outcome`}
      {...drawn}
      granularity={granularity}
      format={formatCount}
      height={HEIGHT}
      onPick={onPick}
    />
  );
}

function Latency({ agent, points, granularity }: ChartProps & { points: Data<"latency"> }) {
  const drawn = useMemo(
    () => ({
      dates: points.map((point) => point.date),
      series: (["p50", "p95", "p99"] as const).map((name, index) => ({
        name,
        colour: `var(--series-${[0, 1, 3][index]})`,
        values: points.map((point) => point[name]),
      })),
    }),
    [points],
  );
  return (
    <TimeChart
      label={`Latency percentiles of ${agent} over time`}
      {...drawn}
      granularity={granularity}
      format={formatDuration}
      height={HEIGHT}
    />
  );
}

function Cost({ agent, trend, granularity }: ChartProps & { trend: Data<"costs">["trend"] }) {
  const drawn = useMemo(() => {
    const values = trend.map((point) => point.cost);
    return {
      dates: trend.map((point) => point.date),
      series: [{ name: "cost", colour: "var(--series-2)", type: "area" as const, values }],
    };
  }, [trend]);
  return (
    <TimeChart
      label={`Cost of ${agent} over time`}
      {...drawn}
      granularity={granularity}
      format={formatCost}
      height={HEIGHT}
      hasLegend={false}
    />
  );
}

function Tools({ agent, calls }: { agent: Agent; calls: Record<string, number> }) {
  const used = Object.entries(calls).sort((a, b) => b[1] - a[1]);
  return (
    <BarList
      bars={used.slice(0, 6).map(([name, value]) => ({
        key: name,
        label: name,
        value,
        shown: formatCount(value),
        colour: colourOf(agent.name),
      }))}
      empty="No tool was called in this period"
    />
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className="rounded-lg border bg-surface px-3.5 py-2.5">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-xl font-semibold">{value}</dd>
    </div>
  );
}

function RecentTraces({ agent }: { agent: Agent }) {
  const range = useRange();
  const { env } = useUrl();
  const query = { ...rangeQuery(range), agentId: agent.name, environment: env, limit: 8 };
  const { data } = useQuery({
    queryKey: ["agents", "recent", query],
    queryFn: () => unwrapPage(api.GET("/api/spans/traces", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Latest traces">
      {!data && <Skeleton className="h-64" />}
      {data?.items.length === 0 && (
        <p className="py-6 text-center text-muted">No trace in this period</p>
      )}
      <ul>
        {data?.items.map((trace) => (
          <li key={trace.traceId} className="border-b last:border-0">
            <Link
              to="/traces/$traceId"
              params={{ traceId: trace.traceId } as never}
              className="flex h-8 items-center gap-3 hover:text-accent"
            >
              <span className="w-20 shrink-0 text-muted">
                <Time at={trace.startTime} />
              </span>
              <span className="min-w-0 flex-1 truncate">
                {previewText(trace.inputPreview) || trace.name}
              </span>
              {trace.status === "error" && <Badge tone="bad">{trace.errorType ?? "error"}</Badge>}
              <span className="w-16 shrink-0 text-right">{formatDuration(trace.durationMs)}</span>
              <span className="w-16 shrink-0 text-right text-muted">{formatCost(trace.cost)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Rules({ agent }: { agent: Agent }) {
  const { rules, enabled } = agent.alertSettings;
  const navigate = useNavigate();
  const edit = () =>
    void navigate({ to: "/agents/$agentId/rules", params: { agentId: agent.id } as never });
  return (
    <Panel
      title="Watched by"
      actions={
        <Button size="small" kind="quiet" onClick={edit}>
          Edit
        </Button>
      }
    >
      {rules.length === 0 ? (
        <EmptyState
          title="Nobody is watching"
          action={
            <Button kind="primary" onClick={edit} icon={<BellPlus className="size-4" />}>
              Add a rule
            </Button>
          }
        >
          A rule wakes somebody when errors, latency, cost or a signal leave their bounds.
        </EmptyState>
      ) : (
        <ul>
          {rules.map((rule) => (
            <li key={rule.id} className="border-b py-2 last:border-0">
              <span className="flex items-center gap-2">
                <Badge tone={severityTone(rule.severity)}>{rule.severity}</Badge>
                <span className="truncate font-medium">{rule.name ?? "Rule"}</span>
                {!enabled && <span className="text-sm text-muted">switched off</span>}
              </span>
              <span className="mt-0.5 block text-sm text-muted">{describeRule(rule)}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
