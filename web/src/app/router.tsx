/** From the table of pages to the router. What is not public needs a session. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import { GLOBAL_KEYS } from "@/lib/range";
import { session } from "@/lib/session";
import { parseSearch, type Search, stringifySearch } from "@/lib/url";
import { Button } from "@/ui/Button";
import { EmptyState, ErrorState } from "@/ui/states";
import { PAGES, type Page } from "./pages";
import { Shell } from "./Shell";

const root = createRootRoute({
  component: Outlet,
  validateSearch: (search: Record<string, unknown>) => search as Search,
  search: { middlewares: [retainSearchParams([...GLOBAL_KEYS] as never)] },
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => (
    <ErrorState error={error} what="This page has a defect" onRetry={reset} />
  ),
});

const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: Shell,
  beforeLoad: ({ location }) => {
    if (!session.token()) {
      const next = location.href === "/" ? undefined : location.href;
      throw redirect({ to: "/login", search: { next } as never, replace: true });
    }
  },
});

function toRoute(page: Page) {
  return createRoute({
    getParentRoute: () => (page.isPublic ? root : frame) as typeof root,
    path: page.path,
    component: lazyRouteComponent(page.load),
    loader: ({ cause, location, params }) => {
      // A pointer that only passes over a link asks for nothing: there is a rate limit.
      if (cause !== "enter") return;
      page.load().then(
        (code) => code.ask?.(location.search as Search, params),
        () => undefined,
      );
    },
    staticData: { page },
  });
}

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    page?: Page;
  }
}

function NotFound() {
  return (
    <EmptyState
      isPage
      title="There is no such page"
      action={<Button onClick={() => void router.navigate({ to: "/" })}>Go to the overview</Button>}
    >
      The address leads nowhere; it may be mistyped.
    </EmptyState>
  );
}

// Inside the frame, so that the way on is at hand.
const nowhere = createRoute({ getParentRoute: () => frame, path: "$", component: NotFound });

const routes = PAGES.map(toRoute);
const isPublic = (index: number) => PAGES[index]?.isPublic;

export const router = createRouter({
  routeTree: root.addChildren([
    ...routes.filter((_, index) => isPublic(index)),
    frame.addChildren([...routes.filter((_, index) => !isPublic(index)), nowhere as never]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  // What was preloaded is entered all the same.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultPendingMs: 300,
});

// A session that ends, here or in another tab, leads to the sign-in page and back again.
session.subscribe(() => {
  if (session.token()) return;
  const { pathname, href } = router.state.location;
  const page = PAGES.find((one) => one.path === pathname);
  if (page?.isPublic) return;
  void router.navigate({ to: "/login", search: { next: href, ended: "1" } as never });
});
