import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { GitCompareArrows, Trash2 } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { api, type TraceWithSpans, unwrap } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl } from "@/lib/url";
import { Badge, Dot } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CopyId, copyText } from "@/ui/Copy";
import { Dialog } from "@/ui/Dialog";
import { RoleButton } from "@/ui/RoleButton";
import { ErrorState, Skeleton, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";
import { UserLink } from "@/ui/UserLink";
import { SpanPanel } from "./SpanPanel";
import { buildTree, nextError, revealed, visibleNodes } from "./tree";
import { Waterfall } from "./Waterfall";

export function useTrace(traceId: string) {
  return useQuery({
    queryKey: ["trace", traceId],
    queryFn: () =>
      unwrap(api.GET("/api/spans/traces/{traceId}", { params: { path: { traceId } } })),
    staleTime: 60_000,
  });
}

export default function TracePage() {
  const { traceId = "" } = useParams({ strict: false }) as { traceId?: string };
  const { data, error, refetch } = useTrace(traceId);
  if (error) {
    return (
      <ErrorState error={error} what="The trace could not be loaded" onRetry={() => void refetch()}>
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
  const { span: spanId } = useUrl();
  const setUrl = useSetUrl();
  const selected = tree.nodes.get(spanId ?? "") ?? tree.roots[0];
  const selectedId = selected?.span.spanId;
  const select = (span: string | undefined) => {
    setFolded(revealed(folded, tree.nodes.get(span ?? "")));
    setUrl({ span });
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
      run: () => select(nextError(visibleNodes(tree.roots, new Set()), selectedId) ?? selectedId),
    },
    {
      keys: "c",
      what: "Copy trace id",
      run: () => void copyText(trace.traceId).then((isDone) => isDone && toast("Trace id copied.")),
    },
  ]);
  return (
    <div className="flex h-full flex-col">
      <Summary trace={trace} />
      <div className="grid min-h-0 flex-1 grid-cols-1 max-lg:grid-rows-[minmax(10rem,40%)_1fr] lg:grid-cols-[minmax(0,1fr)_minmax(24rem,44%)]">
        <Waterfall
          tree={tree}
          rows={rows}
          folded={folded}
          selected={selectedId}
          onSelect={select}
          onFold={fold}
        />
        <aside
          className="min-h-0 border-line max-lg:border-t lg:border-l"
          aria-label="Selected span"
        >
          {selected && <SpanPanel key={selectedId} span={selected.span} trace={trace} />}
        </aside>
      </div>
    </div>
  );
}

/** The totals stay visible while the tree and the details scroll. */
function Summary({ trace }: { trace: TraceWithSpans }) {
  return (
    <header className="flex flex-wrap items-center gap-x-5 gap-y-1.5 border-b px-4 py-2.5">
      <div className="min-w-0">
        <div className="flex min-w-0 items-center gap-2">
          <h1 className="truncate text-lg font-semibold">{trace.name}</h1>
          <Badge tone={trace.status === "error" ? "bad" : "good"}>
            {trace.status === "error" ? (trace.errorType ?? "error").replace("_", " ") : "success"}
          </Badge>
        </div>
        <div className="flex flex-wrap items-center gap-x-3 text-sm text-muted">
          {trace.agentName && (
            <Link
              to="/traces"
              search={{ agent: trace.agentName } as never}
              className="inline-flex items-center gap-1.5 hover:text-fg"
            >
              <Dot colour={colourOf(trace.agentName)} />
              {trace.agentName}
            </Link>
          )}
          <Time at={trace.startTime} as="full" />
          {trace.environment && <span>{trace.environment}</span>}
          {trace.sessionId && (
            <Link
              to={`/sessions/${encodeURIComponent(trace.sessionId)}`}
              className="text-accent hover:underline"
            >
              session
            </Link>
          )}
          <UserLink userId={trace.userId} />
          {trace.variant && <span>variant {trace.variant}</span>}
          <CopyId id={trace.traceId} />
        </div>
      </div>
      <dl className="ml-auto flex flex-wrap gap-x-5">
        <Total name="Duration">{formatDuration(trace.durationMs)}</Total>
        <Total name="Spans">{formatCount(trace.spanCount)}</Total>
        {trace.errorCount > 0 && (
          <Total name="Errors">
            <span className="text-bad">{formatCount(trace.errorCount)}</span>
          </Total>
        )}
        <Total
          name="Tokens"
          title={`${formatCount(trace.inputTokens)} in, ${formatCount(trace.outputTokens)} out`}
        >
          {formatCompact(trace.totalTokens)}
        </Total>
        <Total name="Cost">{formatCost(trace.cost)}</Total>
      </dl>
      <Actions trace={trace} />
    </header>
  );
}

function Total({ name, title, children }: { name: string; title?: string; children: ReactNode }) {
  return (
    <div title={title} className="text-right">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="font-medium">{children}</dd>
    </div>
  );
}

function Actions({ trace }: { trace: TraceWithSpans }) {
  const navigate = useNavigate();
  const [isConfirming, setConfirming] = useState(false);
  const queries = useQueryClient();
  const remove = async () => {
    try {
      const { traceId } = trace;
      await unwrap(api.DELETE("/api/spans/traces/{traceId}", { params: { path: { traceId } } }));
      queries.removeQueries({ queryKey: ["trace", traceId] });
      toast("Trace deleted.");
      void navigate({ to: "/traces" });
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "bad");
    }
  };
  return (
    <div className="flex gap-1">
      <Button
        size="small"
        icon={<GitCompareArrows className="size-3.5" />}
        onClick={() =>
          void navigate({
            to: "/traces",
            search: { compare: trace.traceId, agent: trace.agentName ?? undefined } as never,
          })
        }
      >
        Compare
      </Button>
      <RoleButton
        needs="editor"
        kind="quiet"
        size="small"
        aria-label="Delete trace"
        onClick={() => setConfirming(true)}
        icon={<Trash2 className="size-3.5" />}
      />
      <Dialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title="Delete this trace?"
        footer={
          <>
            <Button onClick={() => setConfirming(false)}>Cancel</Button>
            <Button kind="danger" onClick={() => void remove()}>
              Delete
            </Button>
          </>
        }
      >
        This permanently deletes its {formatCount(trace.spanCount)} spans, signals and logs.
      </Dialog>
    </div>
  );
}
