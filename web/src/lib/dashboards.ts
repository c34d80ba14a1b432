/** Dashboards: loading, changing, and who may change them. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, unwrap, unwrapPage } from "./api";
import { useProfile } from "./queries";
import { useCan } from "./roles";

export type Dashboard = Schemas["Dashboard"];
type NewDashboard = Schemas["NewDashboard"];
type Change = Schemas["DashboardChange"];

const PAGE = 100;

/** The own and the shared ones, newest first. */
export function useDashboards() {
  return useQuery({ queryKey: ["dashboards", "list"], queryFn: findDashboards });
}

async function findDashboards(): Promise<Dashboard[]> {
  const found: Dashboard[] = [];
  for (;;) {
    const query = { limit: PAGE, skip: found.length };
    const page = await unwrapPage(api.GET("/api/dashboards", { params: { query } }));
    found.push(...page.items);
    if (!page.pagination.hasMore) return found;
  }
}

export function useDashboard(id: string) {
  return useQuery({
    queryKey: ["dashboards", "one", id],
    queryFn: () => getDashboard(id),
  });
}

/** The owner, and admins of the workspace; both need the role of an editor. */
export function useMayChange(): (dashboard: Dashboard) => boolean {
  const can = useCan();
  const { data } = useProfile();
  return ({ ownerId }) => can("admin") || (can("editor") && data?.id === ownerId);
}

export const getDashboard = (id: string) =>
  unwrap(api.GET("/api/dashboards/{id}", { params: { path: { id } } }));

export const createDashboard = (body: NewDashboard) =>
  unwrap(api.POST("/api/dashboards", { body }));

export const changeDashboard = (id: string, body: Change) =>
  unwrap(api.PUT("/api/dashboards/{id}", { params: { path: { id } }, body }));

export const deleteDashboard = (id: string) =>
  unwrap(api.DELETE("/api/dashboards/{id}", { params: { path: { id } } }));

/** Runs one of the above and updates what is shown. */
export function useDashboardChange<Input, Output>(
  work: (input: Input) => Promise<Output>,
  handlers: { onDone: (output: Output) => void; onError: (error: Error) => void },
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: work,
    onSuccess: (output) => {
      if (isDashboard(output)) queries.setQueryData(["dashboards", "one", output.id], output);
      void queries.invalidateQueries({ queryKey: ["dashboards", "list"] });
      handlers.onDone(output);
    },
    onError: handlers.onError,
  });
}

function isDashboard(value: unknown): value is Dashboard {
  return typeof value === "object" && value !== null && "panels" in value;
}
