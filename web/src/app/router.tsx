/** Builds the router from the page table. Pages that are not public need a session. */
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
import { useTimeZone } from "@/lib/timeZone";
import { parseSearch, type Search, stringifySearch } from "@/lib/url";
import { workspace } from "@/lib/workspace";
import { Button } from "@/ui/Button";
import { EmptyState, ErrorState } from "@/ui/states";
import { enterWorkspace } from "./enterWorkspace";
import { PAGES, type Page } from "./pages";
import type { Path } from "./publicPages";
import { Shell } from "./Shell";

// The middleware below sets the workspace.
const KEPT = GLOBAL_KEYS.filter((key) => key !== "ws");

const root = createRootRoute({
  component: Outlet,
  validateSearch: (search: Record<string, unknown>) => search as Search,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => (
    <ErrorState isPage error={error} what="This page crashed" onRetry={reset} />
  ),
});

/** Links that name no workspace stay in the current one, even from a page of a foreign one. */
function nameWorkspace({ search, next }: { search: Search; next: (search: Search) => Search }) {
  const result = next(search);
  return { ...result, ws: result.ws ?? workspace.id() ?? undefined };
}

const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: Shell,
  search: { middlewares: [retainSearchParams<Search>(KEPT), nameWorkspace] },
  beforeLoad: ({ location, preload }) => {
    if (!session.id()) {
      const next = location.href === "/" ? undefined : location.href;
      throw redirect({ to: "/login", search: { next }, replace: true });
    }
    return preload ? undefined : enterWorkspace((location.search as Search).ws);
  },
});

/** Another time zone renders the page again, which keeps its state, unlike a new key. */
function toComponent(load: Page["load"]) {
  const Lazy = lazyRouteComponent(load);
  const Zoned = () => {
    useTimeZone();
    return <Lazy />;
  };
  return Object.assign(Zoned, { preload: Lazy.preload });
}

function toRoute<P extends Path>(page: Page & { path: P }) {
  return createRoute({
    getParentRoute: () => (page.isPublic ? root : frame) as typeof root,
    path: page.path as P,
    component: toComponent(page.load),
    loader: ({ cause, location, params }) => {
      // Hovering a link loads code but no data: requests are rate limited.
      if (cause !== "enter") return;
      const { ws } = location.search as Search;
      if (ws && ws !== workspace.id()) return;
      page.load().then(
        (code) => code.prefetch?.(location.search as Search, params),
        () => undefined,
      );
    },
    staticData: { page },
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    page?: Page;
  }
}

function NotFound() {
  return (
    <EmptyState
      isPage
      title="Page not found"
      action={<Button onClick={() => void router.navigate({ to: "/" })}>Go to overview</Button>}
    >
      The URL may be mistyped.
    </EmptyState>
  );
}

// Inside the frame, so that the navigation stays visible.
const notFound = createRoute({ getParentRoute: () => frame, path: "$", component: NotFound });

/** The routes as links know them: by their paths, without the frame. */
type Routes = { [P in Path]: ReturnType<typeof toRoute<P>> };

const routes = PAGES.map((page) => toRoute(page));
const isPublic = (index: number) => PAGES[index]?.isPublic;

export const router = createRouter({
  routeTree: root.addChildren([
    ...routes.filter((_, index) => isPublic(index)),
    frame.addChildren([...routes.filter((_, index) => !isPublic(index)), notFound] as never[]),
  ] as unknown as Routes),
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  // Loaders also run for preloaded pages.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultPendingMs: 300,
});

// When the session ends, here or in another tab, show the sign-in page and return afterwards.
session.subscribe(() => {
  if (session.id()) return;
  const { pathname, href } = router.state.location;
  const page = PAGES.find((one) => one.path === pathname);
  if (page?.isPublic) return;
  void router.navigate({ to: "/login", search: { next: href, ended: "1" } });
});
