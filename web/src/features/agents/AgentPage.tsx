/** One agent: how it is doing over the range, its latest traces, and what it is watched by. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { BellPlus, Settings2 } from "lucide-react";
import { useMemo } from "react";
import { describeRule, severityTone } from "@/lib/alerts";
import { type Agent, api, type Trace, unwrap } from "@/lib/api";
import { queries } from "@/lib/client";
import { colourOf } from "@/lib/colours";
import { formatCost, formatCount, formatDuration, formatPercent } from "@/lib/format";
import { previewText } from "@/lib/messages";
import { currentRange } from "@/lib/range";
import type { Search } from "@/lib/url";
import { Badge, Dot } from "@/ui/Badge";
import { BarList } from "@/ui/BarList";
import { Button } from "@/ui/Button";
import { LEGEND_HEIGHT, TimeChart } from "@/ui/chart/TimeChart";
import { PageBody, Panel } from "@/ui/Panel";
import { Answer, EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { figuresOf, useFiguresOf } from "./figures";

const HEIGHT = 180;
const RECENT_HEIGHT = 264;
const MOST_TOOLS = 6;

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
  // What is asked for all at once comes all at once: the charts first, the rest from its panels.
  void queries.prefetchQuery(asked.outcomes);
  void queries.prefetchQuery(asked.latency);
  void queries.prefetchQuery(asked.costs);
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

/** Each asks for itself, so that an answer draws nothing but its own panel. */
function Figures({ agent }: { agent: Agent }) {
  return (
    <div className="grid gap-3 lg:grid-cols-2">
      <Totals agent={agent} />
      <Requests agent={agent} />
      <Latency agent={agent} />
      <Cost agent={agent} />
      <Tools agent={agent} />
      <RecentTraces agent={agent} />
      <Rules agent={agent} />
    </div>
  );
}

interface OfAgent {
  agent: Agent;
}

function Totals({ agent }: OfAgent) {
  const { data, error, refetch } = useQuery(useFiguresOf(agent.name).metrics);
  if (error && !data) {
    return (
      <div className="lg:col-span-2">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  return (
    <dl className="grid grid-cols-2 gap-3 md:grid-cols-5 lg:col-span-2">
      <Figure name="Traces" value={formatCount(data?.totalTraces)} />
      <Figure name="Error rate" value={formatPercent(data && 1 - data.successRate)} />
      <Figure name="Mean latency" value={formatDuration(data?.avgLatency)} />
      <Figure name="p95 latency" value={formatDuration(data?.p95Latency)} />
      <Figure name="Cost" value={formatCost(data?.estimatedCost)} />
    </dl>
  );
}

function Requests({ agent }: OfAgent) {
  const { granularity, outcomes } = useFiguresOf(agent.name);
  const question = useQuery(outcomes);
  const navigate = useNavigate();
  const openTraces = (date: string) =>
    void navigate({
      to: "/traces",
      search: { agent: agent.name, from: date, range: undefined } as never,
    });
  const drawn = useMemo(() => {
    const bars = { type: "bar", stack: "all" } as const;
    const trend = question.data?.trend ?? [];
    const succeeded = trend.map((point) => point.success);
    const failed = trend.map((point) => point.failure);
    return {
      dates: trend.map((point) => point.date),
      series: [
        { ...bars, name: "succeeded", colour: "var(--good)", values: succeeded },
        { ...bars, name: "failed", colour: "var(--bad)", values: failed },
      ],
    };
  }, [question.data]);
  return (
    <Panel title="Requests" unit="traces">
      <Answer question={question} height={HEIGHT + LEGEND_HEIGHT}>
        {() => (
          <TimeChart
            label={`Traces of ${agent.name} over time, by outcome`}
            {...drawn}
            granularity={granularity}
            format={formatCount}
            height={HEIGHT}
            onPick={openTraces}
          />
        )}
      </Answer>
    </Panel>
  );
}

function Latency({ agent }: OfAgent) {
  const { granularity, latency } = useFiguresOf(agent.name);
  const question = useQuery(latency);
  const drawn = useMemo(() => {
    const points = question.data ?? [];
    return {
      dates: points.map((point) => point.date),
      series: (["p50", "p95", "p99"] as const).map((name, index) => ({
        name,
        colour: `var(--series-${[0, 1, 3][index]})`,
        values: points.map((point) => point[name]),
      })),
    };
  }, [question.data]);
  return (
    <Panel title="Latency" unit="of traces">
      <Answer question={question} height={HEIGHT + LEGEND_HEIGHT}>
        {() => (
          <TimeChart
            label={`Latency percentiles of ${agent.name} over time`}
            {...drawn}
            granularity={granularity}
            format={formatDuration}
            height={HEIGHT}
          />
        )}
      </Answer>
    </Panel>
  );
}

function Cost({ agent }: OfAgent) {
  const { granularity, costs } = useFiguresOf(agent.name);
  const question = useQuery(costs);
  const drawn = useMemo(() => {
    const trend = question.data?.trend ?? [];
    const values = trend.map((point) => point.cost);
    return {
      dates: trend.map((point) => point.date),
      series: [{ name: "cost", colour: "var(--series-2)", type: "area" as const, values }],
    };
  }, [question.data]);
  return (
    <Panel title="Cost" unit="US dollars">
      <Answer question={question} height={HEIGHT}>
        {() => (
          <TimeChart
            label={`Cost of ${agent.name} over time`}
            {...drawn}
            granularity={granularity}
            format={formatCost}
            height={HEIGHT}
            hasLegend={false}
          />
        )}
      </Answer>
    </Panel>
  );
}

function Tools({ agent }: OfAgent) {
  const question = useQuery(useFiguresOf(agent.name).tools);
  return (
    <Panel title="Tools" unit="calls">
      <Answer question={question} height={HEIGHT}>
        {({ heatmap }) => (
          <BarList
            bars={Object.entries(heatmap[agent.name] ?? {})
              .sort((a, b) => b[1] - a[1])
              .slice(0, MOST_TOOLS)
              .map(([name, value]) => ({
                key: name,
                label: name,
                value,
                shown: formatCount(value),
                colour: colourOf(agent.name),
              }))}
            empty="No tool was called in this period"
          />
        )}
      </Answer>
    </Panel>
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

function RecentTraces({ agent }: OfAgent) {
  const question = useQuery(useFiguresOf(agent.name).recent);
  return (
    <Panel title="Latest traces">
      <Answer question={question} height={RECENT_HEIGHT}>
        {({ items }) => (
          <ul>
            {items.length === 0 && (
              <li className="py-6 text-center text-muted">No trace in this period</li>
            )}
            {items.map((trace) => (
              <RecentTrace key={trace.traceId} trace={trace} />
            ))}
          </ul>
        )}
      </Answer>
    </Panel>
  );
}

function RecentTrace({ trace }: { trace: Trace }) {
  return (
    <li className="border-b last:border-0">
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
  );
}

function Rules({ agent }: OfAgent) {
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
