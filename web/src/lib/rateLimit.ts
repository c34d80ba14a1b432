/** The wait of all requests for the rate limit, so that the page can say when it continues. */
import { useSyncExternalStore } from "react";

export interface RateLimitWait {
  /** Requests a minute. */
  limit: number;
  /** In milliseconds since 1970. */
  until: number;
}

let current: RateLimitWait | null = null;
const listeners = new Set<() => void>();

function change(wait: RateLimitWait | null) {
  current = wait;
  for (const listener of listeners) listener();
}

/** Requests that wait together announce one wait. */
export function announceWait(limit: number, seconds: number) {
  const until = Date.now() + seconds * 1000;
  if (current && current.until >= until - 1000) return;
  const wait = { limit, until };
  change(wait);
  setTimeout(() => current === wait && change(null), seconds * 1000);
}

export function useRateLimitWait(): RateLimitWait | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => current,
  );
}
