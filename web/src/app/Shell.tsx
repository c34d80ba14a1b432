/** The frame around every page: rail, top bar, palette, help and progress. */
import { useIsFetching } from "@tanstack/react-query";
import { Outlet, useMatches, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { savesData, whenIdle } from "@/lib/idle";
import { useFilterValues } from "@/lib/queries";
import { useRange, useSetRange } from "@/lib/range";
import { useRateLimitWait } from "@/lib/rateLimit";
import { useShortcuts } from "@/lib/shortcuts";
import { setTheme, useIsDark } from "@/lib/theme";
import { useTabTitle } from "@/lib/title";
import { useWorkspaceId } from "@/lib/workspace";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/states";
import { PAGES, type Page } from "./pages";
import { Rail } from "./Rail";
import { TopBar } from "./TopBar";
import { UnsavedGuard } from "./UnsavedGuard";
import { NotMember, NoWorkspace, useAccess } from "./workspaceAccess";

const loadPalette = () => import("./CommandPalette");
const loadSheet = () => import("./ShortcutSheet");
const CommandPalette = lazy(loadPalette);
const ShortcutSheet = lazy(loadSheet);

export function usePage(): Page | undefined {
  return useMatches().findLast((match) => match.staticData.page)?.staticData.page;
}

/** Another workspace starts with fresh components: none of them keeps data of the last one. */
export function Shell() {
  return (
    <>
      <Frame key={useWorkspaceId()} />
      <UnsavedGuard />
    </>
  );
}

function Frame() {
  const page = usePage();
  const [isRailOpen, setRailOpen] = useState(false);
  // Undefined until they are opened for the first time.
  const [isPaletteOpen, setPaletteOpen] = useState<boolean>();
  const [isHelpOpen, setHelpOpen] = useState<boolean>();
  useTabTitle(page?.title);
  useIdleLoading();
  // Every page needs the names to assign colours consistently.
  useFilterValues();
  useGlobalKeys(
    () => setPaletteOpen(true),
    () => setHelpOpen(true),
  );
  return (
    <div className="flex h-dvh">
      <a
        href="#main"
        className="absolute -top-20 left-2 z-50 rounded bg-accent px-3 py-2 text-on-accent focus:top-2"
      >
        Skip to content
      </a>
      <Rail isOpen={isRailOpen} onClose={() => setRailOpen(false)} />
      <div className="flex min-w-0 flex-1 flex-col">
        <TopBar
          page={page}
          onMenu={() => setRailOpen(true)}
          onPalette={() => setPaletteOpen(true)}
          onHelp={() => setHelpOpen(true)}
        />
        <ProgressLine />
        <main id="main" tabIndex={-1} className="relative min-h-0 flex-1 outline-none">
          <CheckedOutlet page={page} />
        </main>
      </div>
      <Suspense>
        {isPaletteOpen !== undefined && (
          <CommandPalette isOpen={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
        )}
        {isHelpOpen !== undefined && (
          <ShortcutSheet isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
        )}
      </Suspense>
    </div>
  );
}

/** Loads the code of the palette and the other pages while the browser is idle, so that no click waits for it. */
function useIdleLoading() {
  const isFetching = useIsFetching() > 0;
  useEffect(() => {
    if (isFetching || savesData()) return;
    let isWanted = true;
    const loadRest = async () => {
      while (isWanted && unloaded.length > 0) {
        await new Promise<void>(whenIdle);
        if (isWanted)
          await unloaded
            .shift()?.()
            .catch(() => undefined);
      }
    };
    void loadRest();
    return () => {
      isWanted = false;
    };
  }, [isFetching]);
}

const unloaded: (() => Promise<unknown>)[] = [
  loadPalette,
  loadSheet,
  ...PAGES.filter((page) => !page.isPublic).map((page) => page.load),
];

function useGlobalKeys(openPalette: () => void, openHelp: () => void) {
  const navigate = useNavigate();
  const isDark = useIsDark();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [openPalette]);
  useShortcuts([
    { keys: "?", what: "Show keyboard shortcuts", run: openHelp },
    {
      keys: "t",
      what: "Switch between light and dark",
      run: () => setTheme(isDark ? "light" : "dark"),
    },
    ...PAGES.filter((page) => page.key).map((page) => ({
      keys: `g ${page.key}`,
      what: `Go to ${page.title}`,
      run: () => void navigate({ to: page.path }),
    })),
  ]);
}

/** A foreign workspace and an invalid time range are reported instead of guessed. */
function CheckedOutlet({ page }: { page: Page | undefined }) {
  const access = useAccess();
  const range = useRange();
  const { setPreset } = useSetRange();
  if (access === "foreign") return <NotMember />;
  if (access === "none") return <NoWorkspace />;
  if (range.problem && page?.uses?.includes("range")) {
    return (
      <EmptyState
        isPage
        title="Invalid time range in the URL"
        action={
          <Button kind="primary" onClick={() => setPreset("7d")}>
            Show the last 7 days
          </Button>
        }
      >
        {range.problem}.
      </EmptyState>
    );
  }
  return <Outlet />;
}

/** A thin line after 300 ms of loading, a message after 5 s. */
function ProgressLine() {
  const isFetching = useIsFetching() > 0;
  const isWaiting = useRateLimitWait() !== null;
  const [stage, setStage] = useState<"none" | "line" | "words">("none");
  useEffect(() => {
    if (!isFetching) return setStage("none");
    const line = setTimeout(() => setStage("line"), 300);
    const words = setTimeout(() => setStage("words"), 5000);
    return () => {
      clearTimeout(line);
      clearTimeout(words);
    };
  }, [isFetching]);
  return (
    <div role="status" className="relative z-20 h-0">
      {stage !== "none" && (
        <div className="absolute inset-x-0 -top-px h-0.5 overflow-hidden">
          <div className="h-full w-1/3 animate-[progress_1.1s_linear_infinite] bg-accent" />
        </div>
      )}
      {stage === "words" && !isWaiting && (
        <p className="absolute top-2 left-1/2 -translate-x-1/2 rounded-md border bg-surface px-3 py-1.5 text-sm whitespace-nowrap text-muted shadow-lg">
          Still loading
        </p>
      )}
    </div>
  );
}
