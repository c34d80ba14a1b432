/** Which spans count in the totals of their trace. */
import type { Span } from "@/lib/api";
import { formatCost, formatCounted } from "@/lib/format";

const COUNTED_KINDS: readonly string[] = ["llm", "embedding", "rerank"];

export function hasUsage(span: Span): boolean {
  return span.totalTokens > 0 || span.cost > 0;
}

/** Why the usage of a span is not in the totals; null if it is, or if there is none. */
export function whyUncounted(span: Span): "counted elsewhere" | "kind" | null {
  if (!hasUsage(span)) return null;
  if (span.countedIn) return "counted elsewhere";
  return COUNTED_KINDS.includes(span.kind) ? null : "kind";
}

/** What the totals of a trace leave out, in words; null if they include everything. */
export function explainUncounted(spans: readonly Span[]): string | null {
  const of = (why: string) => spans.filter((span) => whyUncounted(span) === why);
  const describe = (found: Span[], reason: string) => {
    const cost = found.reduce((sum, span) => sum + span.cost, 0);
    const amount = cost > 0 ? ` (${formatCost(cost)})` : "";
    return found.length > 0 ? [`${formatCounted(found.length, "span")}${amount} ${reason}`] : [];
  };
  const parts = [
    ...describe(of("counted elsewhere"), "reporting a call that another span counts"),
    ...describe(of("kind"), "other than model calls, often repeating their totals"),
  ];
  return parts.length > 0 ? `Not in the totals: ${parts.join("; ")}` : null;
}
