/** The cache of API responses. */
import { notifyManager, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api";
import { session } from "./session";

/** Server errors are retried once, rejected requests are not. */
function shouldRetry(failures: number, error: Error): boolean {
  return error instanceof ApiError && error.status >= 500 && failures < 1;
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: 15_000, refetchOnWindowFocus: false },
  },
});

// By default a response waits for a timer behind pending rendering.
notifyManager.setScheduler(queueMicrotask);

// The next user must not see data of the previous one.
session.subscribe(() => {
  if (!session.token()) queries.clear();
});
