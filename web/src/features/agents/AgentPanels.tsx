/** The latest traces of one agent, its releases and its alert rules. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { BellPlus } from "lucide-react";
import { describeRule, severityTone } from "@/lib/alerts";
import type { Agent, Trace } from "@/lib/api";
import { formatCost, formatCount, formatDuration, formatPercent } from "@/lib/format";
import { numberOf, pageConditions, useGroups } from "@/lib/groups";
import { previewText } from "@/lib/messages";
import { useUrl } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { ErrorBadge } from "@/ui/ErrorBadge";
import { Panel } from "@/ui/Panel";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, QueryResult } from "@/ui/states";
import { Time } from "@/ui/Time";
import { useAgentQueries } from "./agentQueries";

const RECENT_HEIGHT = 264;
const RELEASES_HEIGHT = 120;

export function RecentTraces({ agent }: { agent: Agent }) {
  const query = useQuery(useAgentQueries(agent.name).recent);
  return (
    <Panel title="Latest traces">
      <QueryResult query={query} height={RECENT_HEIGHT}>
        {({ items }) => (
          <ul>
            {items.length === 0 && (
              <li className="py-6 text-center text-muted">No traces in this period</li>
            )}
            {items.map((trace) => (
              <RecentTrace key={trace.traceId} trace={trace} />
            ))}
          </ul>
        )}
      </QueryResult>
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
        {trace.status === "error" && <ErrorBadge trace={trace} />}
        <span className="w-16 shrink-0 text-right">{formatDuration(trace.durationMs)}</span>
        <span className="w-16 shrink-0 text-right text-muted">{formatCost(trace.cost)}</span>
      </Link>
    </li>
  );
}

const MAX_RELEASES = 8;

/** Which version is better; the page Changes says whether the difference is chance. */
export function Releases({ agent }: { agent: Agent }) {
  const query = useGroups({
    measures: ["count", "errorRate", "p95", "cost"],
    groupBy: ["serviceVersion"],
    filters: pageConditions({ ...useUrl(), agent: agent.name }),
    limit: MAX_RELEASES,
  });
  return (
    <Panel
      title="Releases"
      unit="by service version"
      actions={
        <Link
          to="/changes"
          search={{ agent: agent.name, by: "serviceVersion" } as never}
          className="text-sm text-accent hover:underline"
        >
          Compare
        </Link>
      }
    >
      <QueryResult query={query} height={RELEASES_HEIGHT}>
        {({ rows }) =>
          rows.every((row) => row.serviceVersion === null) ? (
            <p className="py-6 text-center text-muted">
              No trace of this period names a version. Set <code>service.version</code> to compare
              releases.
            </p>
          ) : (
            <table className="w-full">
              <thead className="text-left text-sm text-muted">
                <tr className="h-8 border-b *:font-normal">
                  <th>Version</th>
                  <th className="text-right">Traces</th>
                  <th className="text-right">Errors</th>
                  <th className="text-right">p95</th>
                  <th className="text-right">Cost</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={String(row.serviceVersion)} className="h-8 border-b last:border-0">
                    <td className="max-w-40 truncate">{String(row.serviceVersion ?? "none")}</td>
                    <td className="text-right">{formatCount(numberOf(row, "count"))}</td>
                    <td className="text-right">{formatPercent(numberOf(row, "errorRate"))}</td>
                    <td className="text-right">{formatDuration(numberOf(row, "p95"))}</td>
                    <td className="text-right">{formatCost(numberOf(row, "cost"))}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </QueryResult>
    </Panel>
  );
}

export function Rules({ agent }: { agent: Agent }) {
  const { rules, enabled } = agent.alertSettings;
  const navigate = useNavigate();
  const edit = () =>
    void navigate({ to: "/agents/$agentId/rules", params: { agentId: agent.id } as never });
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
