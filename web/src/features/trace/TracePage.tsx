/** One trace: its totals, the tree with a search, and the selected span. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { api, type TraceWithSpans, unwrap } from "@/lib/api";
import { useShortcuts } from "@/lib/shortcuts";
import { useShownName } from "@/lib/title";
import { isOfFailures, readList } from "@/lib/traceFilters";
import { useSetUrl, useUrl } from "@/lib/url";
import { copyText } from "@/ui/Copy";
import { SplitPane } from "@/ui/SplitPane";
import { ErrorState, Skeleton, SkeletonRows } from "@/ui/states";
import { toast } from "@/ui/Toast";
import { SpanPanel } from "./SpanPanel";
import { SpanSearch } from "./SpanSearch";
import { isInAttributes } from "./search";
import { TraceSummary } from "./TraceSummary";
import { buildTree, findFailure, nextError, revealed, visibleNodes } from "./tree";
import { useTraceSearch } from "./useTraceSearch";
import { Waterfall } from "./Waterfall";

export function useTrace(traceId: string) {
  return useQuery({
    queryKey: ["trace", traceId],
    queryFn: () =>
      unwrap(api.GET("/api/spans/traces/{traceId}", { params: { path: { traceId } } })),
    staleTime: 60_000,
  });
}

const TRACE_ID = /^[0-9a-f]{32}$/i;
const NO_ID = "The id of a trace has 32 characters: 0 to 9 and a to f.";

export default function TracePage() {
  const { traceId = "" } = useParams({ strict: false }) as { traceId?: string };
  const { data, error, refetch } = useTrace(traceId);
  useShownName(data?.name);
  if (error) {
    return (
      <ErrorState
        isPage
        {...(TRACE_ID.test(traceId)
          ? { error, what: "The trace could not be loaded", onRetry: () => void refetch() }
          : { error: NO_ID, what: "Trace not found" })}
      >
        <Link to="/traces" className="flex h-8 items-center text-accent hover:underline">
          All traces
        </Link>
      </ErrorState>
    );
  }
  if (!data) return <Loading />;
  return <TraceView key={traceId} trace={data} />;
}

function Loading() {
  return (
    <div aria-busy="true">
      <h1 className="sr-only">Trace</h1>
      <div className="h-16 border-b p-3">
        <Skeleton className="h-5 w-72" />
      </div>
      <SkeletonRows rows={14} />
    </div>
  );
}

function TraceView({ trace }: { trace: TraceWithSpans }) {
  const tree = useMemo(() => buildTree(trace.spans), [trace.spans]);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => visibleNodes(tree.roots, folded), [tree, folded]);
  const search = useTraceSearch(tree, trace.traceId);
  const url = useUrl();
  const { tab } = url;
  const setUrl = useSetUrl();
  // Who looks for failures wants to see what failed.
  const first = isOfFailures(readList(url)) ? findFailure(search.nodes) : undefined;
  const selected = tree.nodes.get(url.span ?? "") ?? first ?? tree.roots[0];
  const selectedId = selected?.span.spanId;
  const select = (span: string | undefined) => {
    setFolded(revealed(folded, tree.nodes.get(span ?? "")));
    setUrl({ span, tab: span && search.found.has(span) ? tabOfMatch(span) : tab });
  };
  /** Opens the tab in which the match is, unless another one is open. */
  const tabOfMatch = (spanId: string) => {
    const found = tree.nodes.get(spanId)?.span;
    if (!found || (tab && tab !== "attributes")) return tab;
    return isInAttributes(found, search.text) ? "attributes" : undefined;
  };
  const fold = (spanId: string) => {
    const next = new Set(folded);
    if (!next.delete(spanId)) next.add(spanId);
    setFolded(next);
  };
  const step = (by: number) => {
    const at = rows.findIndex((row) => row.span.spanId === selectedId);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next) select(next.span.spanId);
  };
  const setFold = (isFolded: boolean) => {
    if (!selected) return;
    if (selected.children.length > 0 && folded.has(selected.span.spanId) !== isFolded)
      fold(selected.span.spanId);
    else if (isFolded && selected.parent) select(selected.parent.span.spanId);
  };
  useShortcuts([
    { keys: "ArrowDown", what: "Next span", run: () => step(1) },
    { keys: "ArrowUp", what: "Previous span", run: () => step(-1) },
    { keys: "ArrowRight", what: "Expand", run: () => setFold(false) },
    { keys: "ArrowLeft", what: "Collapse, or go to the parent", run: () => setFold(true) },
    {
      keys: "e",
      what: "Next error",
      run: () => select(nextError(search.nodes, selectedId) ?? selectedId),
    },
    {
      keys: "c",
      what: "Copy trace id",
      run: () => void copyText(trace.traceId).then((isDone) => isDone && toast("Trace id copied.")),
    },
  ]);
  return (
    <div className="flex h-full flex-col">
      <TraceSummary trace={trace} spanId={selectedId} />
      <div className="min-h-0 flex-1">
        <SplitPane
          name="trace"
          label="Width of the span details"
          initial={44}
          first={
            <div className="flex h-full flex-col">
              <SpanSearch search={search} selected={selectedId} onSelect={select} />
              <div className="min-h-0 flex-1">
                <Waterfall
                  tree={tree}
                  rows={rows}
                  folded={folded}
                  selected={selectedId}
                  matches={search.found}
                  onSelect={select}
                  onFold={fold}
                />
              </div>
            </div>
          }
          second={
            <aside className="h-full min-h-0" aria-label="Selected span">
              {selected && (
                <SpanPanel key={selectedId} span={selected.span} trace={trace} onSelect={select} />
              )}
            </aside>
          }
        />
      </div>
    </div>
  );
}
