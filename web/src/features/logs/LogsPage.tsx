/** Log lines, newest first, with live mode, filters and links to traces. */

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Pause, Play, ScrollText } from "lucide-react";
import { useEffect, useMemo } from "react";
import { api, type Log, unwrapPage } from "@/lib/api";
import { formatShortTime } from "@/lib/format";
import { rangeQuery, tick, useRange } from "@/lib/range";
import { useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl, useUrlState } from "@/lib/url";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Dialog";
import { Select } from "@/ui/Field";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { ListTitle } from "@/ui/Panel";
import { SearchBox } from "@/ui/SearchBox";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Table } from "@/ui/Table";
import { COLUMNS } from "./columns";
import { LogDetail } from "./LogDetail";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
const PAGE = 100;
const LIVE_MS = 3000;

function useLogs() {
  const range = useRange();
  const { level, search, agent, trace } = useUrl();
  const query = {
    ...rangeQuery(range),
    level: (level || undefined) as Log["level"] | undefined,
    search: search || undefined,
    traceId: trace || undefined,
    agentId: agent,
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
  const [level, setLevel] = useUrlState("level", "");
  const [live, setLive] = useUrlState("live", "off");
  const { log: openId, trace } = useUrl();
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
        <Select
          aria-label="Level"
          value={level}
          onChange={setLevel}
          options={[
            { value: "", label: "All levels" },
            ...LEVELS.slice(1).map((value) => ({ value, label: `${value} and above` })),
          ]}
        />
        <SearchBox label="Search messages" placeholder="Search messages" />
        <ViewsButton page="logs" />
        {trace && (
          <Button size="small" onClick={() => setUrl({ trace: undefined })}>
            One trace ✕
          </Button>
        )}
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
  const { level, search, agent, trace } = useUrl();
  const setUrl = useSetUrl();
  const range = useRange();
  const isFiltered = Boolean(level || search || agent || trace);
  return (
    <EmptyState
      icon={<ScrollText className="size-6" />}
      title={isFiltered ? "No logs match" : "No logs in this period"}
      action={
        isFiltered && (
          <Button
            onClick={() =>
              setUrl({ level: undefined, search: undefined, agent: undefined, trace: undefined })
            }
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
