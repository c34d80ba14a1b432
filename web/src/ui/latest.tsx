/** Rows of the latest traces and sessions in a panel. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Trace } from "@/lib/api";
import { formatCost, formatDuration } from "@/lib/format";
import { previewText } from "@/lib/messages";
import { ErrorBadge } from "./ErrorBadge";
import { Time } from "./Time";

/** In a narrow panel the text has a line of its own. */
export const LATEST_ROW =
  "flex min-h-8 min-w-0 flex-wrap items-center gap-x-3 py-1 hover:text-accent @md:flex-nowrap";
export const LATEST_TEXT = "min-w-0 flex-1 truncate @max-md:order-first @max-md:basis-full";

export function When({ at }: { at: string }) {
  return (
    <span className="min-w-16 shrink-0 text-muted @max-md:mr-auto @md:min-w-20">
      <Time at={at} />
    </span>
  );
}

export function LatestRows({ empty, children }: { empty: string; children: ReactNode[] }) {
  if (children.length === 0) return <p className="py-6 text-center text-muted">{empty}</p>;
  return <ul className="@container">{children}</ul>;
}

export function TraceRow({ trace }: { trace: Trace }) {
  return (
    <li className="border-b last:border-0">
      <Link to="/traces/$traceId" params={{ traceId: trace.traceId }} className={LATEST_ROW}>
        <When at={trace.startTime} />
        <span className={LATEST_TEXT}>{previewText(trace.inputPreview) || trace.name}</span>
        {trace.status === "error" && <ErrorBadge of={trace} />}
        <span className="min-w-16 shrink-0 text-right">{formatDuration(trace.durationMs)}</span>
        <span className="min-w-16 shrink-0 text-right text-muted">{formatCost(trace.cost)}</span>
      </Link>
    </li>
  );
}
