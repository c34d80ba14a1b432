/** Queries that several pages use. */
import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "./api";
import { registerNames } from "./colours";

export function useProfile() {
  return useQuery({
    queryKey: ["profile"],
    queryFn: () => unwrap(api.GET("/api/users/profile")),
    staleTime: 300_000,
  });
}

/** All known agents, models, environments and other filter values. */
export function useFilterValues() {
  return useQuery({
    queryKey: ["filters"],
    queryFn: async () => {
      const values = await unwrap(api.GET("/api/spans/filters"));
      registerNames(
        values.agents.map((agent) => agent.name),
        values.models,
      );
      return values;
    },
    staleTime: 60_000,
  });
}

export function useAlertSummary() {
  return useQuery({
    queryKey: ["alerts", "summary"],
    queryFn: () => unwrap(api.GET("/api/spans/alerts/summary")),
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
}

/** The names of the signals of the last month. */
export function useSignalNames(): string[] {
  const { data } = useQuery({
    queryKey: ["signals", "names"],
    queryFn: () => unwrap(api.GET("/api/signals/summary")),
    staleTime: 300_000,
  });
  return data?.map((one) => one.signalName) ?? [];
}
