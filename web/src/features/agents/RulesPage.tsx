/** The alert rules of one agent. */
import { useShownName } from "@/lib/title";
import { PageBody } from "@/ui/Panel";
import { RuleEditor } from "@/ui/rules/RuleEditor";
import { ErrorState, Skeleton } from "@/ui/states";
import { useAgent } from "./useAgent";

export default function RulesPage() {
  const { data: agent, error, refetch } = useAgent();
  useShownName(agent?.name);
  if (error) return <ErrorState isPage error={error} onRetry={() => void refetch()} />;
  if (!agent) {
    return (
      <PageBody title="Alert rules">
        <Skeleton className="h-96" />
      </PageBody>
    );
  }
  return (
    <RuleEditor
      key={agent.id}
      agentId={agent.id}
      settings={agent.alertSettings}
      title="Alert rules"
      crumbs={[
        { label: "Agents", to: "/agents" },
        { label: agent.name, to: `/agents/${agent.id}` },
      ]}
    />
  );
}
