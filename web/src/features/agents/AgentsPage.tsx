/** All agents, one card per agent, those with problems first. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot } from "lucide-react";
import { type Agent, api, unwrap, unwrapPage } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCost, formatCount, formatDuration, formatPercent } from "@/lib/format";
import { type Group, numberOf, useGroups } from "@/lib/groups";
import { useAlertSummary } from "@/lib/queries";
import { autoGranularity, rangeQuery, useRange } from "@/lib/range";
import { useUrlState } from "@/lib/url";
import { Badge, Dot } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { Input } from "@/ui/Field";
import { PageBody } from "@/ui/Panel";
import { Sparkline } from "@/ui/Sparkline";
import { EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { agentHealth, type Health } from "./health";

const ORDER = { bad: 0, warning: 1, good: 2, neutral: 3 } as const;

function useTraffic() {
  const range = useRange();
  const query = { ...rangeQuery(range), granularity: autoGranularity(range) };
  return useQuery({
    queryKey: ["agents", "traffic", query],
    queryFn: () =>
      unwrap(api.GET("/api/analytics/traces/requests-over-time", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}

/** The numbers of an agent in the range by its name; undefined until they are loaded. */
function useNumbers(): (name: string) => Group | undefined {
  const { data } = useGroups({
    measures: ["count", "errorRate", "p95", "cost"],
    groupBy: ["agent"],
    limit: 1000,
  });
  const byName = new Map(data?.rows.map((row) => [row.agent, row]));
  return (name) => byName.get(name) ?? (data && { count: 0 });
}

export default function AgentsPage() {
  const [search, setSearch] = useUrlState("search", "");
  const agents = useQuery({
    queryKey: ["agents", "list", search],
    queryFn: () =>
      unwrapPage(
        api.GET("/api/agents", { params: { query: { limit: 100, search: search || undefined } } }),
      ),
    placeholderData: keepPreviousData,
  });
  const traffic = useTraffic();
  const numbersOf = useNumbers();
  const alerts = useAlertSummary();
  const cards = (agents.data?.items ?? [])
    .map((agent) => {
      const counts = alerts.data?.byAgent.find((one) => one.agentId === agent.id);
      return { agent, health: agentHealth(agent, counts), numbers: numbersOf(agent.name) };
    })
    .sort(
      (a, b) =>
        ORDER[a.health.tone] - ORDER[b.health.tone] ||
        (numberOf(b.numbers, "count") ?? 0) - (numberOf(a.numbers, "count") ?? 0),
    );
  return (
    <PageBody
      title="Agents"
      actions={
        <Input
          type="search"
          aria-label="Search agents"
          placeholder="Search by name"
          className="max-w-56"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      }
    >
      {agents.isError && <ErrorState error={agents.error} onRetry={() => void agents.refetch()} />}
      {agents.isSuccess && cards.length === 0 && <NoAgents isFiltered={search !== ""} />}
      <ul className="grid gap-3 [grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr))]">
        {agents.isPending &&
          Array.from({ length: 6 }, (_, index) => (
            <li key={index}>
              <Skeleton className="h-[11.25rem]" />
            </li>
          ))}
        {cards.map(({ agent, health, numbers }) => (
          <Card
            key={agent.id}
            agent={agent}
            health={health}
            numbers={numbers}
            traffic={traffic.data?.map((point) => point.byAgent[agent.name] ?? 0) ?? []}
          />
        ))}
      </ul>
    </PageBody>
  );
}

function NoAgents({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyState
      icon={<Bot className="size-6" />}
      title={isFiltered ? "No agents match" : "No agents yet"}
      action={
        !isFiltered && (
          <Link to="/start" className="text-accent hover:underline">
            Send your first trace
          </Link>
        )
      }
    >
      {isFiltered
        ? "The search matches any part of a name."
        : "An agent is created automatically by the first trace that names it."}
    </EmptyState>
  );
}

interface CardProps {
  agent: Agent;
  health: Health;
  numbers: Group | undefined;
  traffic: number[];
}

function Card({ agent, health, numbers, traffic }: CardProps) {
  const range = useRange();
  const errorRate = numberOf(numbers, "errorRate");
  const colour = colourOf("agent", agent.name);
  return (
    <li className="relative flex flex-col rounded-lg border bg-surface p-3.5 hover:border-line-strong">
      <div className="flex items-center gap-2">
        <Dot colour={colour} />
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent.id }}
          className="truncate font-medium after:absolute after:inset-0 hover:text-accent"
        >
          {agent.name}
        </Link>
        <span className="ml-auto">
          <Badge tone={health.tone}>{health.word}</Badge>
        </span>
      </div>
      <p className="mt-0.5 h-5 truncate text-muted" title={agent.description ?? undefined}>
        {agent.description}
      </p>
      <div className="my-2.5">
        <Sparkline values={traffic} colour={colour} height={32} />
      </div>
      <dl className="grid grid-cols-4 gap-2">
        <Stat name="Traces" value={formatCount(numberOf(numbers, "count"))} />
        <Stat
          name="Errors"
          value={formatPercent(errorRate)}
          className={(errorRate ?? 0) > 0.05 ? "text-bad" : undefined}
        />
        <Stat name="p95" value={formatDuration(numberOf(numbers, "p95"))} />
        <Stat name="Cost" value={formatCost(numberOf(numbers, "cost"))} />
      </dl>
      <p className="mt-2 flex justify-between gap-2 border-t pt-2 text-sm text-muted">
        <span className="truncate">{range.label}</span>
        <span>
          {agent.lastSeenAt ? (
            <>
              Last seen <Time at={agent.lastSeenAt} />
            </>
          ) : (
            "Never seen"
          )}
        </span>
      </p>
    </li>
  );
}

function Stat({
  name,
  value,
  className,
}: {
  name: string;
  value: string;
  className?: string | undefined;
}) {
  return (
    <div className="min-w-0">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className={cx("truncate font-medium", className)}>{value}</dd>
    </div>
  );
}
