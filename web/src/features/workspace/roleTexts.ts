import type { Role } from "@/lib/roles";

/** What each role may do. */
export const ROLE_TEXTS: Record<Role, string> = {
  viewer: "Sees everything, changes nothing.",
  editor: "Changes agents, alerts, experiments and prices.",
  admin: "Also manages members, API keys and webhooks.",
  owner: "Also deletes the workspace and manages owners.",
};

/** The roles that a member with this role may give. */
export function assignableRoles(own: Role): Role[] {
  return own === "owner" ? ["viewer", "editor", "admin", "owner"] : ["viewer", "editor", "admin"];
}
