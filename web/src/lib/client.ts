/** The cache of API responses. */
import { notifyManager, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api";
import { session } from "./session";
import { workspace } from "./workspace";

/** Server errors are retried once, rejected requests are not. */
function shouldRetry(failures: number, error: Error): boolean {
  return error instanceof ApiError && error.status >= 500 && failures < 1;
}

/** Anything missing may be missing because the person was removed from the workspace. */
function checkAccess(error: Error) {
  if (error instanceof ApiError && error.status === 404) {
    void queries.invalidateQueries({ queryKey: ["workspaces"] });
  }
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: checkAccess }),
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: 15_000, refetchOnWindowFocus: false },
  },
});

// By default a response waits for a timer behind pending rendering.
notifyManager.setScheduler(queueMicrotask);

// The next user must not see data of the previous one.
session.subscribe(() => {
  if (!session.id()) queries.clear();
});

// Neither does one workspace show data of another. These two belong to the person.
const PERSONAL = ["profile", "workspaces"];
workspace.subscribe(() => {
  queries.removeQueries({ predicate: ({ queryKey }) => !PERSONAL.includes(String(queryKey[0])) });
});
