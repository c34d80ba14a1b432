/** What the rule of an alert measured in the last 14 days, with its threshold or band. */
import { useQuery } from "@tanstack/react-query";
import type { Alert, AlertRule } from "@/lib/alerts";
import { api, unwrap } from "@/lib/api";
import { RuleBacktest } from "@/ui/rules/RuleBacktest";
import { Skeleton } from "@/ui/states";

export function AlertChart({ alert }: { alert: Alert }) {
  const { agentId, ruleId } = alert;
  const { data: settings, isError } = useQuery({
    queryKey: ["alerts", "settings", agentId],
    queryFn: async () => {
      if (agentId === null) return unwrap(api.GET("/api/alerts/settings"));
      const params = { path: { agentId } };
      return (await unwrap(api.GET("/api/agents/{agentId}", { params }))).alertSettings;
    },
  });
  if (isError) return null;
  if (!settings) return <Skeleton className="h-[280px]" />;
  const rule = settings.rules.find((one) => one.id === ruleId);
  if (!rule) return <p className="text-muted">The rule of this alert was deleted.</p>;
  return <RuleBacktest agentId={agentId} rule={rule as AlertRule} />;
}
