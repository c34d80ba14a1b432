/** What a span is, how long it took and what it cost. */
import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import type { Span, TraceWithSpans } from "@/lib/api";
import { errorTypeLabel } from "@/lib/errors";
import { formatCost, formatCount, formatDuration } from "@/lib/format";
import { Badge } from "@/ui/Badge";
import { CopyId } from "@/ui/Copy";
import { KindIcon } from "@/ui/kinds";
import { UserLink } from "@/ui/UserLink";
import { AddSignalButton } from "./AddSignal";
import { curlOfCall } from "./curl";
import { errorName } from "./errors";
import { FilterLink } from "./FilterLink";
import { lacksTools } from "./modelRequest";
import { CopyCurl } from "./TraceActions";
import { whyUncounted } from "./usage";

const MISSING_TOOLS = "The span does not record its tool definitions; add them before running.";

interface Props {
  span: Span;
  trace: TraceWithSpans;
  onSelect: (spanId: string) => void;
}

export function SpanHeader({ span, trace, onSelect }: Props) {
  const command = useMemo(() => curlOfCall(span), [span]);
  return (
    <header className="px-3 pt-2.5 pb-1.5">
      <div className="flex min-w-0 items-center gap-2">
        <KindIcon kind={span.kind} />
        <h2 className="truncate text-lg font-medium" title={span.name}>
          {span.name}
        </h2>
        <span className="ml-auto flex items-center gap-1">
          <AddSignalButton traceId={trace.traceId} spanId={span.spanId} of="span" />
          {command && (
            <CopyCurl
              what="model call"
              command={command}
              warning={lacksTools(span) ? MISSING_TOOLS : undefined}
            />
          )}
          <CopyId id={span.spanId} ends={4} />
        </span>
      </div>
      {/* Not beside the name, which it would truncate. */}
      {span.status === "error" && <ErrorBadge span={span} />}
      <dl className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-sm">
        <Fact name="duration">{formatDuration(span.durationMs)}</Fact>
        {span.timeToFirstTokenMs !== null && (
          <Fact name="first token">{formatDuration(span.timeToFirstTokenMs)}</Fact>
        )}
        {span.model && (
          <Fact name="model">
            <FilterLink field="model" value={span.model} />
          </Fact>
        )}
        {span.toolName && (
          <Fact name="tool">
            <FilterLink field="tool" value={span.toolName} />
          </Fact>
        )}
        <Usage span={span} />
        <Uncounted span={span} trace={trace} onSelect={onSelect} />
        <People span={span} trace={trace} />
      </dl>
    </header>
  );
}

/** The exception's own name beside its type. */
function ErrorBadge({ span }: { span: Span }) {
  const type = errorTypeLabel(span.errorType);
  const name = errorName(span);
  return <Badge tone="bad">{name ? `${name} · ${type}` : type}</Badge>;
}

function Usage({ span }: { span: Span }) {
  return (
    <>
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
    </>
  );
}

/** Why tokens and cost of this span are not in the totals above. */
function Uncounted({ span, trace, onSelect }: Props) {
  const why = whyUncounted(span);
  if (why === "kind") {
    return (
      <Fact name="not in the totals">only model calls count; other spans repeat their totals</Fact>
    );
  }
  const { countedIn } = span;
  if (!countedIn) return null;
  const other = trace.spans.find((one) => one.spanId === countedIn);
  return (
    <Fact name="not in the totals">
      the same call is counted in{" "}
      <button
        type="button"
        onClick={() => onSelect(countedIn)}
        className="text-accent hover:underline"
      >
        {other?.name ?? countedIn}
      </button>
    </Fact>
  );
}

/** Session and user where they differ from those of the trace. */
function People({ span, trace }: { span: Span; trace: TraceWithSpans }) {
  return (
    <>
      {span.sessionId && span.sessionId !== trace.sessionId && (
        <Fact name="session">
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: span.sessionId }}
            className="hover:text-accent hover:underline"
          >
            {span.sessionId}
          </Link>
        </Fact>
      )}
      {span.userId && span.userId !== trace.userId && (
        <Fact name="user">
          <UserLink userId={span.userId} />
        </Fact>
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="whitespace-nowrap text-muted">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
