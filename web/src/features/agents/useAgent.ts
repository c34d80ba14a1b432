import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { api, unwrap } from "@/lib/api";

export function useAgentId(): string {
  return (useParams({ strict: false }) as { agentId: string }).agentId;
}

export function useAgent() {
  const agentId = useAgentId();
  return useQuery({
    queryKey: ["agents", "one", agentId],
    queryFn: () => unwrap(api.GET("/api/agents/{agentId}", { params: { path: { agentId } } })),
  });
}
