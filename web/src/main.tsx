import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./app/router";
import { onRateLimit } from "./lib/api";
import { queries } from "./lib/client";
import { toast } from "./ui/Toast";
import "./styles.css";

onRateLimit((seconds) => toast(`Too many requests. The page continues in ${seconds} s.`));

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
        <Suspense>
          <Toasts />
        </Suspense>
      </QueryClientProvider>
    </StrictMode>,
  );
}
