/** The latest traces of one agent, and its alert rules. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BellPlus } from "lucide-react";
import { describeRule, severityTone } from "@/lib/alerts";
import type { Agent } from "@/lib/api";
import { Badge } from "@/ui/Badge";
import { LatestRows, TraceRow } from "@/ui/latest";
import { Panel } from "@/ui/Panel";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, QueryResult } from "@/ui/states";
import { useAgentQueries } from "./agentQueries";

const RECENT_HEIGHT = 264;

export function RecentTraces({ agent }: { agent: Agent }) {
  const query = useQuery(useAgentQueries(agent.name).recent);
  return (
    <Panel title="Latest traces">
      <QueryResult query={query} height={RECENT_HEIGHT}>
        {({ items }) => (
          <LatestRows empty="No traces in this period">
            {items.map((trace) => (
              <TraceRow key={trace.traceId} trace={trace} />
            ))}
          </LatestRows>
        )}
      </QueryResult>
    </Panel>
  );
}

export function Rules({ agent }: { agent: Agent }) {
  const { rules, enabled } = agent.alertSettings;
  const navigate = useNavigate();
  const edit = () => void navigate({ to: "/agents/$agentId/rules", params: { agentId: agent.id } });
  return (
    <Panel
      title="Alert rules"
      actions={
        <RoleButton needs="editor" size="small" kind="quiet" onClick={edit}>
          Edit
        </RoleButton>
      }
    >
      {rules.length === 0 ? (
        <EmptyState
          title="No alert rules yet"
          action={
            <RoleButton
              needs="editor"
              kind="primary"
              onClick={edit}
              icon={<BellPlus className="size-4" />}
            >
              Add a rule
            </RoleButton>
          }
        >
          A rule notifies you when errors, latency, cost or a signal cross a threshold.
        </EmptyState>
      ) : (
        <ul>
          {rules.map((rule) => (
            <li key={rule.id} className="border-b py-2 last:border-0">
              <span className="flex items-center gap-2">
                <Badge tone={severityTone(rule.severity)}>{rule.severity}</Badge>
                <span className="truncate font-medium">{rule.name ?? "Rule"}</span>
                {!enabled && <span className="text-sm text-muted">disabled</span>}
              </span>
              <span className="mt-0.5 block text-sm text-muted">{describeRule(rule)}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
