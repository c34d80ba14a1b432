/** The analytics of one agent over the range of the page. */
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api";
import { autoGranularity, type Range, rangeQuery, useRange } from "@/lib/range";
import { type Search, useUrl } from "@/lib/url";

export function figuresOf(agent: string, { env }: Search, range: Range) {
  const granularity = autoGranularity(range);
  const filter = { ...rangeQuery(range), agentId: agent, environment: env };
  const params = { query: { ...filter, granularity } };
  return {
    granularity,
    metrics: queryOptions({
      queryKey: ["agents", "metrics", filter],
      queryFn: () => unwrap(api.GET("/api/analytics/metrics", { params: { query: filter } })),
    }),
    outcomes: queryOptions({
      queryKey: ["agents", "outcomes", params.query],
      queryFn: () => unwrap(api.GET("/api/analytics/traces/success-failure", { params })),
    }),
    latency: queryOptions({
      queryKey: ["agents", "latency", params.query],
      queryFn: () => unwrap(api.GET("/api/analytics/traces/latency-percentiles", { params })),
    }),
    costs: queryOptions({
      queryKey: ["agents", "costs", params.query],
      queryFn: () => unwrap(api.GET("/api/analytics/costs", { params })),
    }),
    tools: queryOptions({
      queryKey: ["agents", "tools", filter],
      queryFn: () =>
        unwrap(api.GET("/api/analytics/traces/tool-usage", { params: { query: filter } })),
    }),
  };
}

export function useAgentFigures(agent: string) {
  const asked = figuresOf(agent, useUrl(), useRange());
  const shared = { placeholderData: keepPreviousData };
  return {
    granularity: asked.granularity,
    metrics: useQuery({ ...asked.metrics, ...shared }),
    outcomes: useQuery({ ...asked.outcomes, ...shared }),
    latency: useQuery({ ...asked.latency, ...shared }),
    costs: useQuery({ ...asked.costs, ...shared }),
    tools: useQuery({ ...asked.tools, ...shared }),
  };
}
