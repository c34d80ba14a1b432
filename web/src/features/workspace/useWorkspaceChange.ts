import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, unwrap, type Workspace } from "@/lib/api";
import { workspacesQuery } from "@/lib/queries";
import { toast } from "@/ui/Toast";

/** Changes fields of a workspace and shows the result everywhere. */
export function useWorkspaceChange(workspace: Workspace) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["WorkspaceChange"]) =>
      unwrap(
        api.PUT("/api/workspaces/{workspaceId}", {
          params: { path: { workspaceId: workspace.id } },
          body,
        }),
      ),
    onSuccess: (changed) => {
      queries.setQueryData(workspacesQuery.queryKey, (own) =>
        own?.map((one) => (one.id === changed.id ? changed : one)),
      );
      toast("Saved.", "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
}
