import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./app/router";
import { ApiError } from "./lib/api";
import { session } from "./lib/session";
import "./styles.css";
import { Toasts } from "./ui/Toast";

/** What passes by itself is tried again once; what the service refuses is not. */
function shouldRetry(failures: number, error: Error): boolean {
  return error instanceof ApiError && error.status >= 500 && failures < 1;
}

const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: 15_000, refetchOnWindowFocus: false },
  },
});

// The next person must not see what the last one loaded.
session.subscribe(() => {
  if (!session.token()) queries.clear();
});

// A page that is open during an upgrade asks for files that are gone: the new ones are a reload away.
window.addEventListener("vite:preloadError", () => {
  // Code that nobody waits for yet may be missing.
  if (router.state.status !== "pending") return;
  const key = "spanwise.reloaded";
  if (Date.now() - Number(sessionStorage.getItem(key)) < 60_000) return;
  sessionStorage.setItem(key, String(Date.now()));
  location.reload();
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  );
}
