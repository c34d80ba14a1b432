/** One span: conversation, attributes, events, logs, signals and raw JSON. */
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { api, type Span, type TraceWithSpans, unwrap } from "@/lib/api";
import { useUrl, useUrlState } from "@/lib/url";
import { CopyButton } from "@/ui/Copy";
import { JsonView } from "@/ui/JsonView";
import { useMarkedWords } from "@/ui/markWords";
import { Tabs } from "@/ui/Tabs";
import { Attributes } from "./Attributes";
import { isTruncated } from "./content";
import { SpanContent } from "./SpanContent";
import { SpanHeader } from "./SpanHeader";
import { Events, Logs, Signals } from "./SpanRecords";
import { wordsOf } from "./search";

/** Long inputs and outputs are truncated in the trace; the full span is fetched when it is selected. */
function useFullSpan(span: Span): Span {
  const { traceId, spanId } = span;
  const { data } = useQuery({
    queryKey: ["span", traceId, spanId],
    queryFn: () =>
      unwrap(
        api.GET("/api/spans/traces/{traceId}/spans/{spanId}", {
          params: { path: { traceId, spanId } },
        }),
      ),
    enabled: isTruncated(span),
    staleTime: 300_000,
  });
  return data ?? span;
}

interface Props {
  span: Span;
  trace: TraceWithSpans;
  onSelect: (spanId: string) => void;
}

export function SpanPanel({ span: given, trace, onSelect }: Props) {
  const span = useFullSpan(given);
  const [tab, setTab] = useUrlState("tab", "content");
  const panel = useRef<HTMLDivElement>(null);
  useMarkedWords(panel, wordsOf(useUrl().find ?? ""));
  const signals = trace.signals.filter((one) => !one.spanId || one.spanId === span.spanId);
  return (
    <div className="flex h-full flex-col">
      <SpanHeader span={span} trace={trace} onSelect={onSelect} />
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
        ref={panel}
        className="min-h-0 flex-1 overflow-auto p-3"
        role="tabpanel"
        tabIndex={0}
        aria-label={tab}
      >
        {tab === "content" && <SpanContent span={span} />}
        {tab === "attributes" && <Attributes span={span} trace={trace} />}
        {tab === "events" && <Events span={span} />}
        {tab === "logs" && <Logs span={span} />}
        {tab === "signals" && <Signals signals={signals} span={span} />}
        {tab === "raw" && <Raw span={span} />}
      </div>
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
