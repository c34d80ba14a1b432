/** State in the URL, so that every view can be linked. Values are plain text. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

export type Search = Record<string, string | undefined>;

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== "") query.set(key, String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}

export function useUrl(): Search {
  return useSearch({ strict: false }) as Search;
}

/** Changes URL parameters; `undefined` removes one. Replaces the history entry by default. */
export function useSetUrl(): (changes: Search, options?: { push?: boolean }) => void {
  const navigate = useNavigate();
  return useCallback(
    (changes, options) => {
      void navigate({
        to: ".",
        search: (before: Search) => ({ ...before, ...changes }),
        replace: !options?.push,
        resetScroll: false,
      });
    },
    [navigate],
  );
}

/** One URL parameter with a default, which is not written to the URL. */
export function useUrlState<T extends string = string>(
  key: string,
  fallback: NoInfer<T>,
): [T, (value: T) => void] {
  const value = (useUrl()[key] ?? fallback) as T;
  const setUrl = useSetUrl();
  const set = useCallback(
    (next: T) => setUrl({ [key]: next === fallback ? undefined : next }),
    [key, fallback, setUrl],
  );
  return [value, set];
}
