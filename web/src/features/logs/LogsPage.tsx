/** Log lines, newest first, with live mode, filters and links to traces. */

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Pause, Play, ScrollText } from "lucide-react";
import { useEffect, useMemo } from "react";
import { api, unwrapPage } from "@/lib/api";
import { type Condition, useConditions, writeConditions } from "@/lib/conditions";
import { FilteredRowsContext, LEVELS, LOGS } from "@/lib/filterFields";
import { formatShortTime } from "@/lib/format";
import { rangeQuery, tick, useRange } from "@/lib/range";
import { useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl, useUrlState } from "@/lib/url";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Dialog";
import { Select } from "@/ui/Field";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { ListTitle } from "@/ui/Panel";
import { SearchBox } from "@/ui/SearchBox";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Table } from "@/ui/Table";
import { COLUMNS } from "./columns";
import { LogDetail } from "./LogDetail";

const PAGE = 100;
const LIVE_MS = 3000;

function useLogs() {
  const range = useRange();
  const { search, agent, filters } = useUrl();
  const query = {
    ...rangeQuery(range),
    search: search || undefined,
    agentId: agent,
    filters,
    limit: PAGE,
  };
  return useInfiniteQuery({
    queryKey: ["logs", query],
    queryFn: ({ pageParam }) =>
      unwrapPage(api.GET("/api/logs", { params: { query: { ...query, skip: pageParam } } })),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
    placeholderData: (before) => before,
  });
}

export default function LogsPage() {
  const [live, setLive] = useUrlState("live", "off");
  const { log: openId } = useUrl();
  const setUrl = useSetUrl();
  const list = useLogs();
  useLive(live === "on");
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const opened = rows.find((log) => log.id === openId);
  useShortcuts([
    { keys: "l", what: "Toggle live mode", run: () => setLive(live === "on" ? "off" : "on") },
  ]);
  return (
    <div className="flex h-full flex-col">
      <ListTitle>Logs</ListTitle>
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <LevelSelect />
        <SearchBox label="Search messages" placeholder="Search messages" />
        <FilteredRowsContext value={LOGS}>
          <UrlFilterButton />
          <ViewsButton page="logs" />
          <UrlChips />
        </FilteredRowsContext>
        <Button
          className="ml-auto"
          aria-pressed={live === "on"}
          kind={live === "on" ? "primary" : "plain"}
          onClick={() => setLive(live === "on" ? "off" : "on")}
          icon={live === "on" ? <Pause className="size-3.5" /> : <Play className="size-3.5" />}
        >
          Live
        </Button>
      </div>
      <div className="min-h-0 flex-1">
        {list.isPending && <SkeletonRows rows={16} />}
        {list.isError && rows.length === 0 && (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        )}
        {list.isSuccess && rows.length === 0 && <NoLogs />}
        {rows.length > 0 && (
          <Table
            label="Logs"
            columns={COLUMNS}
            rows={rows}
            rowKey={(log) => log.id}
            onOpen={(log) => setUrl({ log: log.id })}
            onEnd={() => {
              if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
            }}
            minWidth="48rem"
          />
        )}
      </div>
      <Drawer
        isOpen={opened !== undefined}
        onClose={() => setUrl({ log: undefined })}
        title="Log line"
      >
        {opened && <LogDetail log={opened} />}
      </Drawer>
    </div>
  );
}

/** The least level, as a filter by this one and those above. */
function LevelSelect() {
  const [conditions, setConditions] = useConditions();
  const condition = conditions.find(isOfLevels);
  const others = conditions.filter((one) => one !== condition);
  return (
    <Select
      aria-label="Level"
      value={condition ? leastOf(condition) : ""}
      onChange={(level) => setConditions([...(level ? [fromLevel(level)] : []), ...others])}
      options={[
        { value: "", label: "All levels" },
        ...LEVELS.slice(1).map((value) => ({ value, label: `${value} and above` })),
      ]}
    />
  );
}

function fromLevel(level: string): Condition {
  return { field: "level", op: "in", value: LEVELS.slice(LEVELS.findIndex((l) => l === level)) };
}

function leastOf({ value }: Condition): string {
  return Array.isArray(value) ? String(value[0]) : "";
}

function isOfLevels(condition: Condition): boolean {
  const least = leastOf(condition);
  const isKnown = LEVELS.slice(1).some((level) => level === least);
  return isKnown && writeConditions([condition]) === writeConditions([fromLevel(least)]);
}

/** Refreshes every few seconds while the page is visible. */
function useLive(isLive: boolean) {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => {
      if (document.hidden) return;
      tick();
      void queries.invalidateQueries({ queryKey: ["logs"] });
    }, LIVE_MS);
    return () => clearInterval(timer);
  }, [isLive, queries]);
}

function NoLogs() {
  const { filters, search, agent } = useUrl();
  const setUrl = useSetUrl();
  const range = useRange();
  const isFiltered = Boolean(filters || search || agent);
  return (
    <EmptyState
      icon={<ScrollText className="size-6" />}
      title={isFiltered ? "No logs match" : "No logs in this period"}
      action={
        isFiltered && (
          <Button
            onClick={() => setUrl({ filters: undefined, search: undefined, agent: undefined })}
          >
            Clear filters
          </Button>
        )
      }
    >
      {isFiltered
        ? `No log line matches between ${formatShortTime(range.from)} and ${formatShortTime(range.to)}.`
        : "Send logs over OTLP or with POST /logs. Logs with a trace id also appear on the trace page."}
    </EmptyState>
  );
}
