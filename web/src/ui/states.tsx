/** What a page shows when there is nothing yet, nothing at all, or something wrong. */
import type { UseQueryResult } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "@/lib/api";
import { Button } from "./Button";
import { cx } from "./cx";

/** Give it the size of what will stand there, so that nothing jumps. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx("animate-pulse rounded-md bg-raised", className)} />;
}

/** Rows of a table that is on its way. */
export function SkeletonRows({ rows = 12 }: { rows?: number }) {
  return (
    // They pulse as one: fifty animations took 37 ms to begin.
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
  /** It is all there is: its title is the page's. */
  isPage?: boolean;
}

/** Says what would be here, and gives the button or command that fills it. */
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
}

/** Says what failed and offers the way on. */
export function ErrorState({
  error,
  what = "This could not be loaded",
  onRetry,
  children,
}: ErrorProps) {
  const message = error instanceof Error ? error.message : String(error);
  const isOver = error instanceof ApiError && error.status === 404;
  return (
    <div
      role="alert"
      className="mx-auto flex max-w-md flex-col items-center gap-2 px-4 py-14 text-center"
    >
      <CircleAlert className="mb-1 size-5 text-bad" aria-hidden />
      <h2 className="text-lg font-medium">{isOver ? "There is nothing here" : what}</h2>
      <p className="break-words text-muted">{message}</p>
      <div className="mt-3 flex gap-2">
        {onRetry && !isOver && <Button onClick={onRetry}>Try again</Button>}
        {children}
      </div>
    </div>
  );
}

interface AnswerProps<T> {
  question: UseQueryResult<T>;
  height: number;
  children: (data: T) => ReactNode;
}

/** The same room for skeleton, error and content. */
export function Answer<T>({ question, height, children }: AnswerProps<T>) {
  const { data, error, refetch } = question;
  return (
    <div style={{ minHeight: height }}>
      {data !== undefined ? (
        children(data)
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <div style={{ height }}>
          <Skeleton className="h-full" />
        </div>
      )}
    </div>
  );
}
