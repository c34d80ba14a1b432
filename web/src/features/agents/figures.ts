/** The analytics of one agent over the range of the page. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api";
import { autoGranularity, rangeQuery, useRange } from "@/lib/range";
import { useUrl } from "@/lib/url";

export function useAgentFigures(agent: string) {
  const range = useRange();
  const { env } = useUrl();
  const granularity = autoGranularity(range);
  const filter = { ...rangeQuery(range), agentId: agent, environment: env };
  const params = { query: { ...filter, granularity } };
  const shared = { placeholderData: keepPreviousData };
  return {
    granularity,
    metrics: useQuery({
      queryKey: ["agents", "metrics", filter],
      queryFn: () => unwrap(api.GET("/api/analytics/metrics", { params: { query: filter } })),
      ...shared,
    }),
    outcomes: useQuery({
      queryKey: ["agents", "outcomes", params.query],
      queryFn: () => unwrap(api.GET("/api/analytics/traces/success-failure", { params })),
      ...shared,
    }),
    latency: useQuery({
      queryKey: ["agents", "latency", params.query],
      queryFn: () => unwrap(api.GET("/api/analytics/traces/latency-percentiles", { params })),
      ...shared,
    }),
    costs: useQuery({
      queryKey: ["agents", "costs", params.query],
      queryFn: () => unwrap(api.GET("/api/analytics/costs", { params })),
      ...shared,
    }),
    tools: useQuery({
      queryKey: ["agents", "tools", filter],
      queryFn: () =>
        unwrap(api.GET("/api/analytics/traces/tool-usage", { params: { query: filter } })),
      ...shared,
    }),
  };
}
