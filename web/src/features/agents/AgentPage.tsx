/** One agent: its numbers over the time range, its latest traces, releases and alert rules. */
import { Link } from "@tanstack/react-router";
import { Settings2 } from "lucide-react";
import type { Agent } from "@/lib/api";
import { queries } from "@/lib/client";
import { colourOf } from "@/lib/colours";
import { currentRange } from "@/lib/range";
import { useShownName } from "@/lib/title";
import type { Search } from "@/lib/url";
import { Badge, Dot } from "@/ui/Badge";
import { PageBody } from "@/ui/Panel";
import { ErrorState, LoadingTitle, Skeleton } from "@/ui/states";
import { Cost, Latency, Requests, Tools, Totals } from "./AgentCharts";
import { RecentTraces, Rules } from "./AgentPanels";
import { AgentStatus } from "./AgentStatus";
import { agentQueries } from "./agentQueries";
import { Releases } from "./Releases";
import { useAgent, useAgentId } from "./useAgent";

/** The agent from the cached agent list, so that the page can show it at once. */
function findListed(agentId: string): Agent | undefined {
  const lists = queries.getQueriesData<{ items: Agent[] }>({ queryKey: ["agents", "list"] });
  return lists.flatMap(([, list]) => list?.items ?? []).find((agent) => agent.id === agentId);
}

export function prefetch(url: Search, { agentId }: Record<string, string>) {
  const agent = findListed(agentId ?? "");
  if (!agent) return;
  const needed = agentQueries(agent.name, url, currentRange(url));
  // Only the charts are prefetched; the panels load the rest after them.
  void queries.prefetchQuery(needed.outcomes);
  void queries.prefetchQuery(needed.latency);
  void queries.prefetchQuery(needed.costs);
}

export default function AgentPage() {
  const listed = findListed(useAgentId());
  const { data: agent = listed, error, refetch } = useAgent();
  useShownName(agent?.name);
  if (error) {
    return (
      <ErrorState isPage error={error} onRetry={() => void refetch()}>
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
          <span className="flex items-center gap-2">
            <Dot colour={colourOf("agent", agent.name)} />
            {agent.name}
          </span>
        ) : (
          <LoadingTitle>Agent</LoadingTitle>
        )
      }
      crumbs={[{ label: "Agents", to: "/agents" }]}
      beside={
        agent && (
          <>
            <AgentStatus agent={agent} />
            {agent.tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </>
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
      <Link to="/traces" search={{ agent: agent.name }} className={LINK}>
        All traces
      </Link>
      <Link to="/agents/$agentId/rules" params={{ agentId: agent.id }} className={LINK}>
        <Settings2 className="size-3.5" aria-hidden /> Alert rules
      </Link>
    </>
  );
}

/** Each panel loads its own data, so that a response renders one panel only. */
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
      <Releases agent={agent} />
    </div>
  );
}
