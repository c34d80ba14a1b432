import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Opens a workspace that the person has just joined. */
export function useOpenWorkspace(): (id: string) => void {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useCallback(
    (id) => {
      queries.removeQueries({ queryKey: ["workspaces"] });
      queries.removeQueries({ queryKey: ["profile"] });
      void navigate({ to: "/", search: { ws: id } });
    },
    [queries, navigate],
  );
}
