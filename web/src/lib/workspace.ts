/**
 * The workspace of this tab. Every URL names it as `ws`, so that a link works for colleagues; the
 * latest one is kept in local storage for URLs without it.
 */
import { session } from "./session";
import { useUrl } from "./url";

const KEY = "spanwise.workspace";
const listeners = new Set<() => void>();
let current = localStorage.getItem(KEY);

function change(id: string | null) {
  if (id) localStorage.setItem(KEY, id);
  else localStorage.removeItem(KEY);
  if (id === current) return;
  current = id;
  for (const listener of listeners) listener();
}

export const workspace = {
  id: (): string | null => current,
  enter: (id: string) => change(id),
  leave: () => change(null),
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

// The next user may not be a member of it.
session.subscribe(() => {
  if (!session.id()) workspace.leave();
});

/** From the URL: while a page of another workspace loads, the shown page keeps its own. */
export function useWorkspaceId(): string | null {
  return useUrl().ws ?? workspace.id();
}
