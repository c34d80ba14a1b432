/** The title of the browser tab: what the page shows, and the name of the page. */
import { useEffect, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let shown: string | null = null;

function show(name: string | null) {
  shown = name;
  for (const listener of listeners) listener();
}

/** Names what the page shows, such as an agent, so that tabs can be told apart. */
export function useShownName(name: string | undefined) {
  useEffect(() => {
    if (!name) return;
    show(name);
    return () => show(null);
  }, [name]);
}

export function useTabTitle(page: string | undefined) {
  const name = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => shown,
  );
  useEffect(() => {
    document.title = [name, page, "Spanwise"].filter(Boolean).join(" · ");
  }, [name, page]);
}
