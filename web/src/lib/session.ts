/** The session token, kept in local storage. */
import { useSyncExternalStore } from "react";

const KEY = "spanwise.token";
const listeners = new Set<() => void>();

function announce() {
  for (const listener of listeners) listener();
}

// Signing out in one tab signs out all tabs.
if (typeof window !== "undefined") {
  window.addEventListener("storage", (event) => event.key === KEY && announce());
}

export const session = {
  token: (): string | null => localStorage.getItem(KEY),
  start(token: string) {
    localStorage.setItem(KEY, token);
    announce();
  },
  end() {
    localStorage.removeItem(KEY);
    announce();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

export function useToken(): string | null {
  return useSyncExternalStore(session.subscribe, session.token);
}
