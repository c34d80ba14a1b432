/** Compares two traces: totals, differences of their spans, both waterfalls on one time scale. */

import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import type { TraceWithSpans } from "@/lib/api";
import { formatChange, formatCompact, formatCost, formatCount, formatDuration } from "@/lib/format";
import { useSetUrl, useUrl, useUrlState } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { ListTitle } from "@/ui/Panel";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Tabs } from "@/ui/Tabs";
import { Time } from "@/ui/Time";
import { SpanContent } from "./SpanContent";
import { SpanDiff } from "./SpanDiff";
import { useTrace } from "./TracePage";
import { buildTree, visibleNodes } from "./tree";
import { Waterfall } from "./Waterfall";

export default function ComparePage() {
  const { a = "", b = "" } = useUrl();
  const [left, right] = [useTrace(a), useTrace(b)];
  if (!a || !b) {
    return (
      <EmptyState
        isPage
        title="Choose two traces"
        action={
          <Link to="/traces" className="text-accent hover:underline">
            Go to traces
          </Link>
        }
      >
        Select two traces in the list, then press Compare.
      </EmptyState>
    );
  }
  const failed = left.error ?? right.error;
  if (failed) {
    return (
      <ErrorState
        isPage
        error={failed}
        onRetry={() => {
          void left.refetch();
          void right.refetch();
        }}
      >
        <Link to="/traces" className="flex h-8 items-center text-accent hover:underline">
          All traces
        </Link>
      </ErrorState>
    );
  }
  if (!left.data || !right.data) {
    return (
      <>
        <Heading />
        <SkeletonRows rows={16} />
      </>
    );
  }
  return <Comparison left={left.data} right={right.data} />;
}

function Heading() {
  return <ListTitle crumbs={[{ label: "Traces", to: "/traces" }]}>Compare two traces</ListTitle>;
}

const TABS = [
  { id: "spans", label: "Differences" },
  { id: "waterfalls", label: "Side by side" },
];

function Comparison({ left, right }: { left: TraceWithSpans; right: TraceWithSpans }) {
  const [view, setView] = useUrlState("view", "spans");
  return (
    <div className="flex h-full flex-col max-lg:overflow-auto">
      <Heading />
      <Differences left={left} right={right} />
      <div className="grid lg:grid-cols-2">
        <Title trace={left} />
        <Title trace={right} />
      </div>
      <div className="border-b">
        <div className="-mb-px">
          <Tabs label="View" value={view} onChange={setView} tabs={TABS} />
        </div>
      </div>
      {view === "waterfalls" ? (
        <Waterfalls left={left} right={right} />
      ) : (
        <SpanDiff left={left} right={right} />
      )}
    </div>
  );
}

function Waterfalls({ left, right }: { left: TraceWithSpans; right: TraceWithSpans }) {
  return (
    <div className="grid flex-1 lg:min-h-0 lg:grid-cols-2">
      <Side trace={left} other={right} param="spanA" />
      <Side trace={right} other={left} param="spanB" />
    </div>
  );
}

const FIGURES: {
  name: string;
  of: (trace: TraceWithSpans) => number;
  show: (value: number) => string;
}[] = [
  { name: "Duration", of: (trace) => trace.durationMs, show: formatDuration },
  { name: "Spans", of: (trace) => trace.spanCount, show: formatCount },
  { name: "Errors", of: (trace) => trace.errorCount, show: formatCount },
  { name: "Tokens in", of: (trace) => trace.inputTokens, show: formatCompact },
  { name: "Tokens out", of: (trace) => trace.outputTokens, show: formatCompact },
  { name: "Cost", of: (trace) => trace.cost, show: formatCost },
];

function Differences({ left, right }: { left: TraceWithSpans; right: TraceWithSpans }) {
  return (
    <dl className="grid grid-cols-3 gap-px border-b bg-line md:grid-cols-6">
      {FIGURES.map(({ name, of, show }) => {
        const [before, now] = [of(left), of(right)];
        const change = formatChange(now, before);
        const tone = now === before ? "text-muted" : now < before ? "text-good" : "text-bad";
        return (
          <div key={name} className="bg-bg px-4 py-2">
            <dt className="text-sm text-muted">{name}</dt>
            <dd className="flex flex-wrap items-baseline gap-x-2">
              <span>{show(before)}</span>
              <span className="text-faint">→</span>
              <span className="font-medium">{show(now)}</span>
              {change && <span className={cx("text-sm", tone)}>{change}</span>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

interface SideProps {
  trace: TraceWithSpans;
  other: TraceWithSpans;
  param: "spanA" | "spanB";
}

function Side({ trace, other, param }: SideProps) {
  const spanId = useUrl()[param];
  const setUrl = useSetUrl();
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const tree = useMemo(() => {
    const built = buildTree(trace.spans);
    // Both sides share one scale, so that the bars are comparable.
    return { ...built, length: Math.max(built.length, buildTree(other.spans).length) };
  }, [trace, other]);
  const rows = useMemo(() => visibleNodes(tree.roots, folded), [tree, folded]);
  const selected = tree.nodes.get(spanId ?? "") ?? tree.roots[0];
  const fold = (spanId: string) => {
    const next = new Set(folded);
    if (!next.delete(spanId)) next.add(spanId);
    setFolded(next);
  };
  return (
    <section className="flex min-w-0 flex-col border-b lg:min-h-0 lg:border-r lg:border-b-0">
      <h3 className="px-3 py-2 font-medium lg:hidden">
        {param === "spanA" ? "First trace" : "Second trace"}
      </h3>
      <div className="h-64 border-b lg:h-[40%] lg:min-h-0">
        <Waterfall
          tree={tree}
          rows={rows}
          folded={folded}
          selected={selected?.span.spanId}
          onSelect={(spanId) => setUrl({ [param]: spanId })}
          onFold={fold}
        />
      </div>
      <div
        className="p-3 lg:min-h-0 lg:flex-1 lg:overflow-auto"
        tabIndex={0}
        role="region"
        aria-label={
          param === "spanA" ? "Selected span, first trace" : "Selected span, second trace"
        }
      >
        {selected && <SpanContent span={selected.span} />}
      </div>
    </section>
  );
}

function Title({ trace }: { trace: TraceWithSpans }): ReactNode {
  return (
    <header className="flex min-h-10 flex-wrap items-center gap-x-2 border-b px-3 py-1">
      <h2 className="min-w-0 truncate font-medium">
        <Link
          to="/traces/$traceId"
          params={{ traceId: trace.traceId }}
          className="hover:text-accent"
        >
          {trace.name}
        </Link>
      </h2>
      <Badge tone={trace.status === "error" ? "bad" : "good"}>{trace.status}</Badge>
      <span className="ml-auto text-sm text-muted">
        <Time at={trace.startTime} as="full" />
      </span>
    </header>
  );
}
