import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { RateLimitNote } from "./app/RateLimitNote";
import { router } from "./app/router";
import { queries } from "./lib/client";
import { shareAnswers } from "./lib/sharedAnswers";
import "./styles.css";

shareAnswers(queries, new BroadcastChannel("spanwise.answers"));

const Toasts = lazy(() => import("./ui/Toasts"));

// After an upgrade an open page may request files that no longer exist: reload it once.
window.addEventListener("vite:preloadError", () => {
  // Prefetched code may be missing.
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
        <RateLimitNote />
        <Suspense>
          <Toasts />
        </Suspense>
      </QueryClientProvider>
    </StrictMode>,
  );
}
