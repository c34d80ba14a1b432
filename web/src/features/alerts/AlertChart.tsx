/** What the rule of an alert measured in the last 14 days, with its threshold or band. */
import { useQuery } from "@tanstack/react-query";
import type { Alert } from "@/lib/alerts";
import { api, unwrap } from "@/lib/api";
import { RuleReplay } from "@/ui/RuleReplay";
import { Skeleton } from "@/ui/states";

export function AlertChart({ alert }: { alert: Alert }) {
  const { agentId, ruleId } = alert;
  const { data: agent, isError } = useQuery({
    queryKey: ["agents", "one", agentId],
    queryFn: () => unwrap(api.GET("/api/agents/{agentId}", { params: { path: { agentId } } })),
  });
  if (isError) return null;
  if (!agent) return <Skeleton className="h-[280px]" />;
  const rule = agent.alertSettings.rules.find((one) => one.id === ruleId);
  if (!rule) return <p className="text-muted">The rule of this alert was deleted.</p>;
  return <RuleReplay agentId={agentId} rule={rule} />;
}
