/**
 * Whether somebody is signed in. The token is in a cookie that scripts cannot read, so a mark in
 * local storage says so to all tabs. It is different for each sign-in and gives access to nothing.
 */
import { useSyncExternalStore } from "react";

const KEY = "spanwise.session";
const listeners = new Set<() => void>();

// Earlier versions kept the token here.
localStorage.removeItem("spanwise.token");

function announce() {
  for (const listener of listeners) listener();
}

// Signing out in one tab signs out all tabs.
if (typeof window !== "undefined") {
  window.addEventListener("storage", (event) => event.key === KEY && announce());
}

export const session = {
  id: (): string | null => localStorage.getItem(KEY),
  start() {
    localStorage.setItem(KEY, crypto.getRandomValues(new Uint32Array(2)).join("-"));
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

export function useIsSignedIn(): boolean {
  return useSyncExternalStore(session.subscribe, session.id) !== null;
}
