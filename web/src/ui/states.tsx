/** What a page shows when there is nothing yet, nothing at all, or something wrong. */
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
    <div aria-busy="true">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex h-8 items-center gap-4 border-b px-3">
          <Skeleton className="h-3 w-28" />
          <Skeleton className="h-3 flex-1" />
          <Skeleton className="h-3 w-16" />
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
