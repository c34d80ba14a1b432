/** The alert rules that apply to all agents of the workspace. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, unwrap } from "@/lib/api";
import { PageBody } from "@/ui/Panel";
import { RuleEditor } from "@/ui/rules/RuleEditor";
import { ErrorState, Skeleton } from "@/ui/states";

export default function WorkspaceRulesPage() {
  const { data, error, refetch } = useQuery({
    queryKey: ["alerts", "settings", null],
    queryFn: () => unwrap(api.GET("/api/alerts/settings")),
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const title = (
    <>
      <Link
        to={"/alerts/rules" as never}
        activeOptions={{ exact: true }}
        className="text-muted underline decoration-1 underline-offset-4 hover:text-fg"
      >
        Rules
      </Link>
      <span className="text-faint"> / </span>All agents
    </>
  );
  if (!data) {
    return (
      <PageBody title={title}>
        <Skeleton className="h-96" />
      </PageBody>
    );
  }
  return <RuleEditor agentId={null} settings={data} title={title} />;
}
