import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { GitCompareArrows, ListTree } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { api, type Trace, unwrapPage } from "@/lib/api";
import { queries } from "@/lib/client";
import { cutMiddle, formatCounted } from "@/lib/format";
import { currentRange, type Range, rangeQuery, useKeptSearch, useRange } from "@/lib/range";
import { useShortcuts } from "@/lib/shortcuts";
import { listQuery, traceSearch, writeList } from "@/lib/traceFilters";
import { type Search, useSetUrl, useUrl, useUrlState } from "@/lib/url";
import { Button } from "@/ui/Button";
import { ListTitle } from "@/ui/Panel";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { type Column, Table } from "@/ui/Table";
import { allColumns, useColumnIds } from "./columns";
import { FilterBar } from "./FilterBar";

const PAGE = 100;
const LIVE_MS = 3000;

function tracesOf(url: Search, range: Range) {
  const isLive = url.live === "1";
  // A live list has no end date; its newest page is polled.
  const { startDate, endDate } = rangeQuery(range);
  const query = listQuery(url, isLive ? { startDate } : { startDate, endDate });
  return infiniteQueryOptions({
    queryKey: ["traces", isLive ? { ...query, startDate: range.preset } : query, isLive],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/spans/traces", {
          params: { query: { ...query, errorNames: true, limit: PAGE, skip: pageParam } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (last) =>
      last.pagination.hasMore && !isLive ? last.pagination.skip + last.items.length : undefined,
  });
}

export const prefetch = (url: Search) =>
  void queries.prefetchInfiniteQuery(tracesOf(url, currentRange(url)));

function useTraces() {
  const url = useUrl();
  return useInfiniteQuery({
    ...tracesOf(url, useRange()),
    placeholderData: keepPreviousData,
    refetchInterval: url.live === "1" ? LIVE_MS : false,
  });
}

export default function TracesPage() {
  const traces = useTraces();
  const rows = useMemo(
    () => unique(traces.data?.pages.flatMap((page) => page.items) ?? []),
    [traces.data],
  );
  const total = traces.data?.pages[0]?.pagination.total;
  return (
    <div className="flex h-full flex-col">
      <ListTitle>Traces</ListTitle>
      <FilterBar total={total === undefined ? "" : formatCounted(total, "trace")} />
      <div className="min-h-0 flex-1">
        {traces.error && rows.length === 0 ? (
          <ErrorState error={traces.error} onRetry={() => void traces.refetch()} />
        ) : traces.isPending ? (
          <SkeletonRows rows={18} />
        ) : rows.length === 0 ? (
          <Nothing />
        ) : (
          <List
            rows={rows}
            hasMore={traces.hasNextPage}
            onEnd={() => void traces.fetchNextPage()}
          />
        )}
      </div>
    </div>
  );
}

/** A trace that arrives between two page loads shifts the rest, so one can appear twice. */
function unique(traces: Trace[]): Trace[] {
  return [...new Map(traces.map((trace) => [trace.traceId, trace])).values()];
}

function Nothing() {
  const url = useUrl();
  const setUrl = useSetUrl();
  const isFiltered = url.search || url.filters || url.agent || url.env;
  const clear = () =>
    setUrl({ search: undefined, filters: undefined, agent: undefined, env: undefined });
  return (
    <EmptyState
      icon={<ListTree className="size-6" />}
      title={isFiltered ? "No traces match" : "No traces in this period"}
      action={
        isFiltered ? (
          <Button onClick={clear}>Clear filters</Button>
        ) : (
          <Link to="/start" className="text-accent hover:underline">
            How to send traces
          </Link>
        )
      }
    >
      {isFiltered
        ? "Try fewer filters or a longer period."
        : "Traces of your application appear here within a second."}
    </EmptyState>
  );
}

interface ListProps {
  rows: Trace[];
  hasMore: boolean;
  onEnd: () => void;
}

function List({ rows, hasMore, onEnd }: ListProps) {
  const url = useUrl();
  const setUrl = useSetUrl();
  const navigate = useNavigate();
  const [at, setAt] = useState(-1);
  const [marked, toggleMark] = useMarked();
  const columns = useColumns(rows, marked, toggleMark);
  const compareWith = url.compare;
  const list = writeList(url);
  const open = useCallback(
    (trace: Trace) =>
      void (compareWith
        ? navigate({ to: "/compare", search: { a: compareWith, b: trace.traceId } })
        : navigate({ to: `/traces/${trace.traceId}`, search: { list } })),
    [compareWith, list, navigate],
  );
  const [first, second] = marked;
  const compare = () =>
    first && second && void navigate({ to: "/compare", search: { a: first, b: second } });
  useShortcuts([
    { keys: "j", what: "Next trace", run: () => setAt(Math.min(rows.length - 1, at + 1)) },
    { keys: "k", what: "Previous trace", run: () => setAt(Math.max(0, at - 1)) },
    { keys: "Enter", what: "Open trace", run: () => rows[at] && open(rows[at]) },
    {
      keys: "x",
      what: "Select for comparison",
      run: () => rows[at] && toggleMark(rows[at].traceId),
    },
  ]);
  const end = useCallback(() => hasMore && onEnd(), [hasMore, onEnd]);
  const sort = url.sort ?? "startTime";
  return (
    <div className="flex h-full flex-col">
      {compareWith && (
        <p className="flex h-9 items-center gap-3 border-b bg-info-soft px-4 text-info">
          Choose a trace to compare with {cutMiddle(compareWith)}.
          <Button size="small" onClick={() => setUrl({ compare: undefined })}>
            Cancel
          </Button>
        </p>
      )}
      <div className="min-h-0 flex-1">
        <Table
          label="Traces"
          columns={columns}
          rows={rows}
          rowKey={(trace) => trace.traceId}
          onOpen={open}
          selected={at}
          onEnd={end}
          minWidth="72rem"
          sorting={{
            by: sort,
            order: url.order === "asc" ? "asc" : "desc",
            onChange: (by, order) =>
              setUrl({
                sort: by === "startTime" ? undefined : by,
                order: order === "desc" ? undefined : order,
                live: undefined,
              }),
          }}
        />
      </div>
      {first && second && (
        <div className="flex h-11 items-center justify-end border-t bg-surface px-3">
          <Button kind="primary" icon={<GitCompareArrows className="size-4" />} onClick={compare}>
            Compare
          </Button>
        </div>
      )}
    </div>
  );
}

/** The traces that are selected for a comparison, in the URL. */
function useMarked(): [string[], (id: string) => void] {
  const [text, setText] = useUrlState("marked", "");
  const marked = useMemo(() => text.split(",").filter(Boolean), [text]);
  const toggle = useCallback((id: string) => setText(mark(marked, id).join()), [marked, setText]);
  return [marked, toggle];
}

/** At most two: a third replaces the first. */
function mark(marked: string[], id: string): string[] {
  return marked.includes(id) ? marked.filter((one) => one !== id) : [...marked, id].slice(-2);
}

function useColumns(
  rows: Trace[],
  marked: string[],
  toggleMark: (id: string) => void,
): Column<Trace>[] {
  const ids = useColumnIds().join();
  const kept = useKeptSearch();
  const search = traceSearch(useUrl());
  // Stable columns avoid rendering every row again.
  return useMemo(() => {
    const scale = {
      duration: Math.max(1, ...rows.map((trace) => trace.durationMs)),
      cost: Math.max(1e-9, ...rows.map((trace) => trace.cost)),
    };
    const check: Column<Trace> = {
      id: "mark",
      header: <span className="sr-only">Compare</span>,
      width: "1rem",
      leads: true,
      cell: (trace) => (
        <input
          type="checkbox"
          aria-label={`Select ${trace.name} for comparison`}
          title="Select for comparison"
          className="block size-3.5 accent-accent"
          checked={marked.includes(trace.traceId)}
          onClick={(event) => event.stopPropagation()}
          onChange={() => toggleMark(trace.traceId)}
        />
      ),
    };
    const shown = ids.split(",");
    return [
      check,
      ...allColumns(scale, kept, search).filter((column) => shown.includes(column.id)),
    ];
  }, [rows, marked, toggleMark, ids, kept, search]);
}
