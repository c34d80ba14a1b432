/** Log lines, newest first; live, by level and by words; each leads to its trace. */
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pause, Play, ScrollText } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { api, type Log, unwrapPage } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatShortTime } from "@/lib/format";
import { rangeQuery, tick, useRange } from "@/lib/range";
import { useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl, useUrlState } from "@/lib/url";
import { Badge, Dot, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/Copy";
import { Drawer } from "@/ui/Dialog";
import { Input, Select } from "@/ui/Field";
import { JsonView } from "@/ui/JsonView";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { type Column, Table } from "@/ui/Table";
import { Time } from "@/ui/Time";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
const PAGE = 100;
const LIVE_MS = 3000;
const TYPING_MS = 350;

const TONES: Record<Log["level"], Tone> = {
  trace: "neutral",
  debug: "neutral",
  info: "info",
  warn: "warning",
  error: "bad",
  fatal: "bad",
};

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

// The message is third: what is further to the right is out of sight on a phone.
const COLUMNS: Column<Log>[] = [
  {
    id: "time",
    header: "Time",
    width: "8.5rem",
    cell: (log) => <Time at={log.timestamp} as="precise" />,
  },
  {
    id: "level",
    header: "Level",
    width: "4.5rem",
    cell: (log) => <Badge tone={TONES[log.level]}>{log.level}</Badge>,
  },
  {
    id: "message",
    header: "Message",
    width: "minmax(16rem, 1fr)",
    cell: (log) => <span title={log.message}>{log.message}</span>,
  },
  {
    id: "agent",
    header: "Agent",
    width: "11rem",
    cell: (log) =>
      log.agentName && (
        <span className="flex items-center gap-1.5">
          <Dot colour={colourOf(log.agentName)} />
          <span className="truncate">{log.agentName}</span>
        </span>
      ),
  },
  {
    id: "trace",
    header: "",
    width: "3.5rem",
    cell: (log) =>
      log.traceId && (
        <Link
          to="/traces/$traceId"
          params={{ traceId: log.traceId } as never}
          search={(log.spanId ? { span: log.spanId } : {}) as never}
          onClick={(event) => event.stopPropagation()}
          className="text-accent hover:underline"
        >
          Trace
        </Link>
      ),
  },
];

export default function LogsPage() {
  const [level, setLevel] = useUrlState("level", "");
  const [search, setSearch] = useUrlState("search", "");
  const [live, setLive] = useUrlState("live", "off");
  const { log: openId, trace } = useUrl();
  const setUrl = useSetUrl();
  const list = useLogs();
  useLive(live === "on");
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const opened = rows.find((log) => log.id === openId);
  useShortcuts([
    { keys: "l", what: "Live on or off", run: () => setLive(live === "on" ? "off" : "on") },
    {
      keys: "/",
      what: "Search logs",
      run: () => document.querySelector<HTMLInputElement>("#log-search")?.focus(),
    },
  ]);
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Logs</h1>
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
        <SearchBox value={search} onChange={setSearch} />
        {trace && (
          <Button size="small" onClick={() => setUrl({ trace: undefined })}>
            of one trace ✕
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

/** Moves "now" on every few seconds, unless nobody looks. */
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

/** What is typed goes into the address when the typing rests. */
function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <Input
      id="log-search"
      type="search"
      aria-label="Search in messages"
      placeholder="Search in messages"
      className="max-w-72"
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

function NoLogs() {
  const { level, search, agent, trace } = useUrl();
  const setUrl = useSetUrl();
  const range = useRange();
  const isFiltered = Boolean(level || search || agent || trace);
  return (
    <EmptyState
      icon={<ScrollText className="size-6" />}
      title={isFiltered ? "No such log line" : "No log line in this period"}
      action={
        isFiltered && (
          <Button
            onClick={() =>
              setUrl({ level: undefined, search: undefined, agent: undefined, trace: undefined })
            }
          >
            Drop the filters
          </Button>
        )
      }
    >
      {isFiltered
        ? `Nothing matches between ${formatShortTime(range.from)} and ${formatShortTime(range.to)}.`
        : "Logs come over OTLP beside the traces, or to POST /logs. Those that carry a trace id stand beside their trace too."}
    </EmptyState>
  );
}

function LogDetail({ log }: { log: Log }) {
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={TONES[log.level]}>{log.level}</Badge>
        <Time at={log.timestamp} as="full" />
        {log.traceId && (
          <Link
            to="/traces/$traceId"
            params={{ traceId: log.traceId } as never}
            className="ml-auto text-accent hover:underline"
          >
            Open the trace
          </Link>
        )}
      </div>
      <div className="relative rounded-md border bg-bg p-3 pr-10">
        <pre className="font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
          {log.message}
        </pre>
        <span className="absolute top-1.5 right-1.5">
          <CopyButton text={log.message} label="Copy the message" />
        </span>
      </div>
      <JsonView
        value={{
          agent: log.agentName,
          traceId: log.traceId,
          spanId: log.spanId,
          attributes: log.attributes,
        }}
      />
    </div>
  );
}
