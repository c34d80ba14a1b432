import { useMatches, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Opens the same list in another workspace; a single trace or agent leads to the overview. */
export function useSwitchWorkspace(): (id: string, to?: string) => void {
  const navigate = useNavigate();
  const path = useMatches().findLast((match) => match.staticData.page)?.staticData.page?.path;
  return useCallback(
    (id, to) => {
      const same = path && !path.includes("$") ? path : "/";
      // The filters name agents and environments of the workspace that one leaves.
      const search = { ws: id, agent: undefined, env: undefined };
      void navigate({ to: to ?? same, search: search });
    },
    [navigate, path],
  );
}
