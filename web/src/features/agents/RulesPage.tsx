/** The alert rules of one agent. */
import { Link } from "@tanstack/react-router";
import { PageBody } from "@/ui/Panel";
import { RuleEditor } from "@/ui/rules/RuleEditor";
import { ErrorState, Skeleton } from "@/ui/states";
import { useAgent } from "./useAgent";

export default function RulesPage() {
  const { data: agent, error, refetch } = useAgent();
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!agent) {
    return (
      <PageBody title="Alert rules">
        <Skeleton className="h-96" />
      </PageBody>
    );
  }
  const title = (
    <>
      <Link
        to="/agents/$agentId"
        params={{ agentId: agent.id } as never}
        className="text-muted hover:text-fg"
      >
        {agent.name}
      </Link>
      <span className="text-faint"> / </span>Alert rules
    </>
  );
  return (
    <RuleEditor key={agent.id} agentId={agent.id} settings={agent.alertSettings} title={title} />
  );
}
