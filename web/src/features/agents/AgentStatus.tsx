import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Agent } from "@/lib/api";
import { silencesQuery, useAlertSummary } from "@/lib/queries";
import { Badge } from "@/ui/Badge";
import { Time } from "@/ui/Time";
import { agentHealth } from "./health";

/** The health of an agent, and until when its notifications are muted. */
export function AgentStatus({ agent }: { agent: Agent }) {
  const { data: summary } = useAlertSummary();
  const { data: silences } = useQuery(silencesQuery);
  if (!summary) return null;
  const health = agentHealth(
    agent,
    summary.byAgent.find((one) => one.agentId === agent.id),
  );
  const silence = silences?.items.find(
    ({ agentId, ruleId, endsAt }) =>
      (agentId ?? agent.id) === agent.id && !ruleId && new Date(endsAt) > new Date(),
  );
  return (
    <>
      <Link
        to="/alerts"
        search={{ agent: agent.name }}
        className="flex"
        title="Alerts of this agent"
      >
        <Badge tone={health.tone}>{health.word}</Badge>
      </Link>
      {silence && (
        <Link to="/alerts/silences" className="flex">
          <Badge>
            silenced until <Time at={silence.endsAt} as="short" />
          </Badge>
        </Link>
      )}
    </>
  );
}
