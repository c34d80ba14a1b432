import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Workspace } from "@/lib/api";
import { defaultWorkspace, useProfile, workspacesQuery } from "@/lib/queries";
import { workspace as currentWorkspace } from "@/lib/workspace";
import { toast } from "@/ui/Toast";

/** Goes on in another workspace after this one was left or deleted. */
export function useExit(left: Workspace): (message: string) => Promise<void> {
  const queries = useQueryClient();
  const { data: profile } = useProfile();
  const navigate = useNavigate();
  return async (message) => {
    const rest = (queries.getQueryData(workspacesQuery.queryKey) ?? []).filter(
      (one) => one.id !== left.id,
    );
    const next = profile && defaultWorkspace(rest, profile);
    if (next) {
      const search = { ws: next.id, agent: undefined, env: undefined };
      await navigate({ to: "/", search: search });
    } else {
      currentWorkspace.leave();
    }
    toast(message);
    await queries.invalidateQueries({ queryKey: workspacesQuery.queryKey });
    await queries.invalidateQueries({ queryKey: ["profile"] });
  };
}
