/** The top bar: workspace, agent, environment, time range, refresh and search. */
import { type Query, useQueryClient } from "@tanstack/react-query";
import { ChevronsUpDown, CircleHelp, Menu as MenuIcon, RefreshCw, Search } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect } from "react";
import { useFilterValues, useWorkspace } from "@/lib/queries";
import { tick } from "@/lib/range";
import { useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl, useUrlState } from "@/lib/url";
import { Badge, Kbd } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { Select } from "@/ui/Field";
import { TRIGGER } from "@/ui/overlayStyles";
import type { Page } from "./pages";
import { RangePicker } from "./RangePicker";

const WorkspaceSwitcher = lazy(() => import("./WorkspaceSwitcher"));

interface Props {
  page: Page | undefined;
  onMenu: () => void;
  onPalette: () => void;
  onHelp: () => void;
}

export function TopBar({ page, onMenu, onPalette, onHelp }: Props) {
  const uses = page?.uses ?? [];
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-2 border-b px-3 py-2 md:px-4">
      <Button
        kind="quiet"
        className="md:hidden"
        aria-label="Menu"
        onClick={onMenu}
        icon={<MenuIcon className="size-4" />}
      />
      <Workspace />
      <div className="flex min-w-0 items-center gap-2 empty:hidden max-xl:order-last max-xl:w-full max-xl:flex-wrap">
        {uses.includes("agent") && <AgentSelect />}
        {uses.includes("environment") && <EnvironmentSelect />}
        {uses.length > 0 && (
          <div className="flex min-w-0 items-center gap-2">
            {uses.includes("range") && <RangePicker />}
            <Refresh />
          </div>
        )}
      </div>
      <button
        type="button"
        onClick={onPalette}
        className="flex h-8 items-center gap-2 rounded-md border border-line-strong bg-surface px-2 text-muted in-[:fullscreen]:hidden hover:bg-hover"
      >
        <Search className="size-3.5" aria-hidden />
        <span className="max-lg:sr-only">Search</span>
        <span aria-hidden className="max-lg:hidden">
          <Kbd>{navigator.platform.startsWith("Mac") ? "⌘K" : "Ctrl K"}</Kbd>
        </span>
      </button>
      <Button
        kind="quiet"
        aria-label="Keyboard shortcuts"
        onClick={onHelp}
        icon={<CircleHelp className="size-4" />}
        className="in-[:fullscreen]:hidden max-md:hidden"
      />
    </header>
  );
}

function Workspace() {
  const current = useWorkspace();
  const label = (
    <>
      <span className="truncate font-medium">{current?.name ?? "Workspace"}</span>
      {current && <Badge>{current.role}</Badge>}
      <ChevronsUpDown className="size-3.5 shrink-0 text-muted" aria-hidden />
    </>
  );
  return (
    <div className="mr-auto flex min-w-0 in-[:fullscreen]:invisible max-md:flex-1">
      <Suspense
        fallback={
          <span className={cx(TRIGGER, "min-w-0 border-transparent bg-transparent")}>{label}</span>
        }
      >
        <WorkspaceSwitcher label={label} />
      </Suspense>
    </div>
  );
}

function AgentSelect() {
  const { agent } = useUrl();
  const setUrl = useSetUrl();
  const { data } = useFilterValues();
  const names = new Set(data?.agents.map((one) => one.name));
  if (agent) names.add(agent);
  return (
    <Select
      aria-label="Agent"
      value={agent ?? ""}
      onChange={(value) => setUrl({ agent: value || undefined }, { push: true })}
      options={[{ value: "", label: "All agents" }, ...names]}
      className="w-40 max-md:min-w-[40%] max-md:flex-1"
    />
  );
}

function EnvironmentSelect() {
  const { env } = useUrl();
  const setUrl = useSetUrl();
  const { data } = useFilterValues();
  const names = new Set(data?.environments);
  if (env) names.add(env);
  if (data && names.size === 0) return null;
  return (
    <Select
      aria-label="Environment"
      value={env ?? ""}
      onChange={(value) => setUrl({ env: value || undefined }, { push: true })}
      options={[{ value: "", label: "All environments" }, ...names]}
      className="w-40 max-md:min-w-[40%] max-md:flex-1"
    />
  );
}

const INTERVALS = [
  { value: "off", label: "Off" },
  { value: "10", label: "10s" },
  { value: "30", label: "30s" },
  { value: "60", label: "1m" },
  { value: "300", label: "5m" },
];

/** Reloads the page's data once or periodically; hidden tabs are not refreshed. */
export function Refresh() {
  const [interval, setInterval] = useUrlState("refresh", "off");
  const queries = useQueryClient();
  const refresh = useCallback(
    (minAgeMs = 0) => {
      tick();
      // Also within the minute to which the end of a range is rounded.
      const isOld = ({ state }: Query) => Date.now() - state.dataUpdatedAt >= minAgeMs;
      void queries.invalidateQueries({ refetchType: "active", predicate: isOld });
    },
    [queries],
  );
  useShortcuts([{ keys: "r", what: "Refresh", run: () => refresh() }]);
  useEffect(() => {
    const seconds = Number(interval);
    if (!(seconds >= 5)) return;
    // Another tab may have refreshed since: what is younger than half the interval is kept.
    const refreshOld = () => document.hidden || refresh(seconds * 500);
    const timer = window.setInterval(refreshOld, seconds * 1000);
    document.addEventListener("visibilitychange", refreshOld);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", refreshOld);
    };
  }, [interval, refresh]);
  return (
    <div className="flex">
      <Button
        aria-label="Refresh"
        onClick={() => refresh()}
        className="rounded-r-none border-r-0"
        icon={<RefreshCw className="size-3.5" />}
      />
      <Select
        aria-label="Auto-refresh"
        value={interval}
        onChange={setInterval}
        options={INTERVALS}
        className="rounded-l-none"
      />
    </div>
  );
}
