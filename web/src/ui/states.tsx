/** Loading, empty and error states. */
import type { UseQueryResult } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "@/lib/api";
import { capitalize } from "@/lib/format";
import { Button } from "./Button";
import { cx } from "./cx";

/** Give it the size of the final content, so that nothing jumps. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx("animate-pulse rounded-md bg-raised", className)} />;
}

/** The heading of a page whose subject is still loading. */
export function LoadingTitle({ children }: { children: ReactNode }) {
  return (
    <>
      <span className="sr-only">{children}</span>
      <Skeleton className="h-6 w-52" />
    </>
  );
}

/** Placeholder rows of a table that is loading. */
export function SkeletonRows({ rows = 12 }: { rows?: number }) {
  return (
    // One animation for all rows: starting fifty took 37 ms.
    <div aria-busy="true" className="animate-pulse">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex h-8 items-center gap-4 border-b px-3">
          <div className="h-3 w-28 rounded-md bg-raised" />
          <div className="h-3 flex-1 rounded-md bg-raised" />
          <div className="h-3 w-16 rounded-md bg-raised" />
        </div>
      ))}
    </div>
  );
}

interface EmptyProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** Its title is the heading of the page. */
  isPage?: boolean;
}

/** Says what would be here, and offers an action that fills it. */
export function EmptyState({ icon, title, children, action, isPage }: EmptyProps) {
  const Title = isPage ? "h1" : "h2";
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-4 py-14 text-center">
      {icon && <div className="mb-1 text-faint">{icon}</div>}
      <Title className="text-lg font-medium">{title}</Title>
      {children && <div className="text-muted">{children}</div>}
      {action && <div className="mt-3 flex gap-2">{action}</div>}
    </div>
  );
}

interface ErrorProps {
  error: unknown;
  what?: string;
  onRetry?: () => void;
  children?: ReactNode;
  /** It stands for the whole page: its heading is that of the page. */
  isPage?: boolean;
}

/** Says what failed and offers a retry. */
export function ErrorState(props: ErrorProps) {
  const { error, what = "Failed to load", onRetry, children, isPage } = props;
  const message = error instanceof Error ? error.message : String(error);
  // "Trace not found" needs no other heading.
  const isMissing = error instanceof ApiError && error.status === 404;
  const Title = isPage ? "h1" : "h2";
  return (
    <div
      role="alert"
      className="mx-auto flex max-w-md flex-col items-center gap-2 px-4 py-14 text-center"
    >
      <CircleAlert className="mb-1 size-5 text-bad" aria-hidden />
      <Title className="text-lg font-medium">{isMissing ? capitalize(message) : what}</Title>
      {!isMissing && <p className="break-words text-muted">{capitalize(message)}</p>}
      <div className="mt-3 flex gap-2">
        {onRetry && !isMissing && <Button onClick={onRetry}>Try again</Button>}
        {children}
      </div>
    </div>
  );
}

interface QueryResultProps<T> {
  query: UseQueryResult<T>;
  height: number;
  /** The heading when the service rejects the request, which a retry does not change. */
  rejected?: string;
  /** Why it may take seconds. */
  slow?: string | undefined;
  children: (data: T) => ReactNode;
}

/** Shows the skeleton, error or content of a query at the same height. */
export function QueryResult<T>(props: QueryResultProps<T>) {
  const { query, height, rejected, slow, children } = props;
  const { data, error, refetch } = query;
  const isRejected = rejected && error instanceof ApiError && error.status === 400;
  return (
    <div style={{ minHeight: height }}>
      {data !== undefined ? (
        children(data)
      ) : isRejected ? (
        <ErrorState error={error} what={rejected} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="relative" style={{ height }}>
          <Skeleton className="h-full" />
          <Elapsed slow={slow} />
        </div>
      )}
    </div>
  );
}

/** Counts the seconds of a query that takes longer than one. */
function Elapsed({ slow }: { slow: string | undefined }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  if (seconds === 0) return null;
  return (
    <p className="absolute inset-0 flex flex-col items-center justify-center gap-1 p-3 text-center text-muted">
      <span className="tabular-nums">Loading, {seconds} s</span>
      {slow && <span className="text-sm">{slow}</span>}
    </p>
  );
}
