/** What has been asked of the service, for as long as it is fresh. */
import { notifyManager, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api";
import { session } from "./session";

/** What passes by itself is tried again once; what the service refuses is not. */
function shouldRetry(failures: number, error: Error): boolean {
  return error instanceof ApiError && error.status >= 500 && failures < 1;
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: 15_000, refetchOnWindowFocus: false },
  },
});

// At once: by default an answer waits for a timer, behind whatever is being drawn.
notifyManager.setScheduler(queueMicrotask);

// The next person must not see what the last one loaded.
session.subscribe(() => {
  if (!session.token()) queries.clear();
});
