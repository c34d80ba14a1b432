/** What the signed-in person may do in the current workspace. The service enforces it. */
import type { Schemas } from "./api";
import { useWorkspace } from "./queries";

export type Role = Schemas["WorkspaceRole"];

/** Each role may do everything that the roles before it may. */
export const ROLES = ["viewer", "editor", "admin", "owner"] as const satisfies readonly Role[];

export function includesRole(role: Role | undefined, needed: Role): boolean {
  return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** Why a control is disabled. */
export const ONLY: Record<Role, string> = {
  viewer: "Members only",
  editor: "Editors only",
  admin: "Admins only",
  owner: "Owners only",
};

/** Undefined until the workspaces are loaded. */
export function useRole(): Role | undefined {
  return useWorkspace()?.role;
}

/** `const can = useCan(); can("editor")` */
export function useCan(): (needed: Role) => boolean {
  const role = useRole();
  return (needed) => includesRole(role, needed);
}
