/** Queries that several pages use. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, type Member, type User, unwrap, unwrapPage, type Workspace } from "./api";
import { registerNames } from "./colours";
import { useWorkspaceId } from "./workspace";

export const profileQuery = queryOptions({
  queryKey: ["profile"],
  queryFn: () => unwrap(api.GET("/api/users/profile")),
  staleTime: 300_000,
});

export function useProfile() {
  return useQuery(profileQuery);
}

/** What the installation offers: passwords, registration, single sign-on. */
export function useSignInOptions() {
  return useQuery({
    queryKey: ["sign-in-options"],
    queryFn: () => unwrap(api.GET("/api/auth/options")),
  });
}

/** The workspaces of which the signed-in person is a member. */
export const workspacesQuery = queryOptions({
  queryKey: ["workspaces"],
  queryFn: async () => {
    const query = { limit: 100 };
    return (await unwrapPage(api.GET("/api/workspaces", { params: { query } }))).items;
  },
  staleTime: 60_000,
});

/** The workspace of a person who has not chosen one. */
export function defaultWorkspace(own: Workspace[], profile: User): Workspace | undefined {
  return own.find((one) => one.id === profile.defaultWorkspaceId) ?? own[0];
}

/** The current workspace, undefined until it is loaded. */
export function useWorkspace(): Workspace | undefined {
  const id = useWorkspaceId();
  const { data } = useQuery(workspacesQuery);
  return data?.find((one) => one.id === id);
}

/** The members of the current workspace, in the order of joining. */
export function useMembers() {
  const workspaceId = useWorkspaceId() ?? "";
  return useQuery({
    queryKey: ["members"],
    queryFn: () => findMembers(workspaceId),
    enabled: workspaceId !== "",
    staleTime: 60_000,
  });
}

async function findMembers(workspaceId: string): Promise<Member[]> {
  const found: Member[] = [];
  for (;;) {
    const query = { limit: 100, skip: found.length };
    const { items, pagination } = await unwrapPage(
      api.GET("/api/workspaces/{workspaceId}/members", {
        params: { path: { workspaceId }, query },
      }),
    );
    found.push(...items);
    if (!pagination.hasMore) return found;
  }
}

/** All known agents, models, environments and other filter values. */
export function useFilterValues() {
  return useQuery({
    queryKey: ["filters"],
    queryFn: async () => {
      const values = await unwrap(api.GET("/api/spans/filters"));
      registerNames({
        agent: values.agents.map((agent) => agent.name),
        model: values.models,
        tool: values.tools,
        provider: values.providers,
        environment: values.environments,
      });
      return values;
    },
    staleTime: 60_000,
  });
}

/** The name of an agent that is given by its name or its id. */
export function useAgentName(agent: string | null | undefined): string | null {
  const { data } = useFilterValues();
  return data?.agents.find(({ id }) => id === agent)?.name ?? agent ?? null;
}

export function useAlertSummary() {
  return useQuery({
    queryKey: ["alerts", "summary"],
    queryFn: () => unwrap(api.GET("/api/spans/alerts/summary")),
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
}

/** Silences, those that end last first. */
export const silencesQuery = queryOptions({
  queryKey: ["alerts", "silences"],
  queryFn: () => unwrapPage(api.GET("/api/alerts/silences", { params: { query: { limit: 100 } } })),
});

/** The names of the signals of the last month. */
export function useSignalNames(): string[] {
  const { data } = useQuery({
    queryKey: ["signals", "names"],
    queryFn: () => unwrap(api.GET("/api/signals/summary")),
    staleTime: 300_000,
  });
  return data?.map((one) => one.signalName) ?? [];
}
