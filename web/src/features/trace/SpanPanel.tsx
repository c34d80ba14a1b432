/** One span: conversation, attributes, events, logs, signals and raw JSON. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, type Span, type TraceWithSpans, unwrap } from "@/lib/api";
import { formatCost, formatCount, formatDuration } from "@/lib/format";
import { useUrlState } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { CopyButton, CopyId } from "@/ui/Copy";
import { JsonView } from "@/ui/JsonView";
import { KindIcon } from "@/ui/kinds";
import { Tabs } from "@/ui/Tabs";
import { Attributes } from "./Attributes";
import { SpanContent } from "./SpanContent";
import { Events, Logs, Signals } from "./SpanRecords";

/** How the service marks truncated text. */
const TRUNCATED = /… \[(cut|truncated) at [^\]]*\]$/;

/** Long inputs and outputs are truncated in the trace; the full span is fetched when it is selected. */
function useFullSpan(span: Span): Span {
  const isTruncated = [span.input, span.output].some(
    (one) => typeof one === "string" && TRUNCATED.test(one.slice(-200)),
  );
  const { traceId, spanId } = span;
  const { data } = useQuery({
    queryKey: ["span", traceId, spanId],
    queryFn: () =>
      unwrap(
        api.GET("/api/spans/traces/{traceId}/spans/{spanId}", {
          params: { path: { traceId, spanId } },
        }),
      ),
    enabled: isTruncated,
    staleTime: 300_000,
  });
  return data ?? span;
}

export function SpanPanel({ span: given, trace }: { span: Span; trace: TraceWithSpans }) {
  const span = useFullSpan(given);
  const [tab, setTab] = useUrlState("tab", "content");
  const signals = trace.signals.filter((one) => !one.spanId || one.spanId === span.spanId);
  return (
    <div className="flex h-full flex-col">
      <Header span={span} />
      <Tabs
        label="Span details"
        value={tab}
        onChange={setTab}
        tabs={[
          {
            id: "content",
            label: span.kind === "llm" || span.kind === "agent" ? "Conversation" : "Content",
          },
          { id: "attributes", label: "Attributes" },
          { id: "events", label: "Events", count: span.events.length },
          { id: "logs", label: "Logs", count: trace.logCount },
          { id: "signals", label: "Signals", count: signals.length },
          { id: "raw", label: "Raw" },
        ]}
      />
      <div
        className="min-h-0 flex-1 overflow-auto p-3"
        role="tabpanel"
        tabIndex={0}
        aria-label={tab}
      >
        {tab === "content" && <SpanContent span={span} />}
        {tab === "attributes" && <Attributes span={span} />}
        {tab === "events" && <Events span={span} />}
        {tab === "logs" && <Logs span={span} />}
        {tab === "signals" && <Signals signals={signals} />}
        {tab === "raw" && <Raw span={span} />}
      </div>
    </div>
  );
}

function Header({ span }: { span: Span }) {
  return (
    <header className="px-3 pt-2.5 pb-1.5">
      <div className="flex min-w-0 items-center gap-2">
        <KindIcon kind={span.kind} />
        <h2 className="truncate text-lg font-medium" title={span.name}>
          {span.name}
        </h2>
        {span.status === "error" && (
          <Badge tone="bad">{(span.errorType ?? "error").replace("_", " ")}</Badge>
        )}
        <span className="ml-auto">
          <CopyId id={span.spanId} ends={4} />
        </span>
      </div>
      <dl className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-sm">
        <Fact name="duration">{formatDuration(span.durationMs)}</Fact>
        {span.model && <Fact name="model">{span.model}</Fact>}
        {span.toolName && <Fact name="tool">{span.toolName}</Fact>}
        {span.totalTokens > 0 && (
          <Fact name="tokens">
            {formatCount(span.inputTokens)} in
            {span.cachedTokens > 0 && ` (${formatCount(span.cachedTokens)} cached)`}
            {span.cacheWriteTokens > 0 &&
              ` (${formatCount(span.cacheWriteTokens)} written to the cache)`}
            , {formatCount(span.outputTokens)} out
            {span.reasoningTokens > 0 && ` (${formatCount(span.reasoningTokens)} reasoning)`}
          </Fact>
        )}
        {span.cost > 0 && <Fact name="cost">{formatCost(span.cost)}</Fact>}
        {span.countedIn && (
          <Fact name="not counted">
            the same call is counted in span <CopyId id={span.countedIn} ends={4} />
          </Fact>
        )}
      </dl>
    </header>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Raw({ span }: { span: Span }) {
  return (
    <div className="relative">
      <div className="absolute top-0 right-0">
        <CopyButton text={JSON.stringify(span, null, 2)} label="Copy JSON" />
      </div>
      <JsonView value={span} />
    </div>
  );
}
