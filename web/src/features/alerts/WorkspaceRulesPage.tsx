/** The alert rules that apply to all agents of the workspace. */
import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api";
import { PageBody } from "@/ui/Panel";
import { RuleEditor } from "@/ui/rules/RuleEditor";
import { ErrorState, Skeleton } from "@/ui/states";

export default function WorkspaceRulesPage() {
  const { data, error, refetch } = useQuery({
    queryKey: ["alerts", "settings", null],
    queryFn: () => unwrap(api.GET("/api/alerts/settings")),
  });
  if (error) return <ErrorState isPage error={error} onRetry={() => void refetch()} />;
  const head = { title: "Rules for all agents", crumbs: [{ label: "Rules", to: "/alerts/rules" }] };
  if (!data) {
    return (
      <PageBody {...head}>
        <Skeleton className="h-96" />
      </PageBody>
    );
  }
  return <RuleEditor agentId={null} settings={data} {...head} />;
}
