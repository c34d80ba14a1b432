/** Loading alerts, and acknowledging or reopening one. */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import type { Alert } from "@/lib/alerts";
import { api, unwrap, unwrapPage } from "@/lib/api";
import { useUrl } from "@/lib/url";
import { toast } from "@/ui/Toast";

const PAGE = 50;

export function useAlerts() {
  const { status, severity, agent } = useUrl();
  return useInfiniteQuery({
    queryKey: ["alerts", "list", status, severity, agent],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/spans/alerts", {
          params: {
            query: {
              status: (status || undefined) as Alert["status"] | undefined,
              severity: (severity || undefined) as Alert["severity"] | undefined,
              agentId: agent,
              limit: PAGE,
              skip: pageParam,
            },
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
    refetchInterval: 30_000,
  });
}

export function useChangeStatus() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, to }: { id: string; to: "acknowledge" | "reopen" }) =>
      unwrap(
        to === "acknowledge"
          ? api.PUT("/api/spans/alerts/{alertId}/acknowledge", {
              params: { path: { alertId: id } },
            })
          : api.PUT("/api/spans/alerts/{alertId}/reopen", { params: { path: { alertId: id } } }),
      ),
    onSuccess: (alert) => {
      void queries.invalidateQueries({ queryKey: ["alerts"] });
      toast(alert.status === "active" ? "Reopened." : "Acknowledged.", "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
}
