/** The queries of the agent page, over its time range. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrap, unwrapPage } from "@/lib/api";
import { autoGranularity, type Range, rangeQuery, useRange } from "@/lib/range";
import { type Search, useUrl } from "@/lib/url";

const RECENT = 8;

export function agentQueries(agent: string, { env }: Search, range: Range) {
  const granularity = autoGranularity(range);
  const query = { ...rangeQuery(range), agentId: agent, environment: env };
  const inTotal = { params: { query } };
  const overTime = { params: { query: { ...query, granularity } } };
  const recent = { params: { query: { ...query, errorNames: true, limit: RECENT } } };
  const shared = { placeholderData: keepPreviousData };
  return {
    granularity,
    metrics: queryOptions({
      ...shared,
      queryKey: ["agents", "metrics", inTotal],
      queryFn: () => unwrap(api.GET("/api/analytics/metrics", inTotal)),
    }),
    outcomes: queryOptions({
      ...shared,
      queryKey: ["agents", "outcomes", overTime],
      queryFn: () => unwrap(api.GET("/api/analytics/traces/success-failure", overTime)),
    }),
    latency: queryOptions({
      ...shared,
      queryKey: ["agents", "latency", overTime],
      queryFn: () => unwrap(api.GET("/api/analytics/traces/latency-percentiles", overTime)),
    }),
    costs: queryOptions({
      ...shared,
      queryKey: ["agents", "costs", overTime],
      queryFn: () => unwrap(api.GET("/api/analytics/costs", overTime)),
    }),
    tools: queryOptions({
      ...shared,
      queryKey: ["agents", "tools", inTotal],
      queryFn: () => unwrap(api.GET("/api/analytics/traces/tool-usage", inTotal)),
    }),
    recent: queryOptions({
      ...shared,
      queryKey: ["agents", "recent", recent],
      queryFn: () => unwrapPage(api.GET("/api/spans/traces", recent)),
    }),
  };
}

export function useAgentQueries(agent: string) {
  return agentQueries(agent, useUrl(), useRange());
}
