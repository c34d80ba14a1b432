/** Audit entries as sentences, with the ids in the tooltip. */
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type AuditEntry, actorOf, auditIds, describeAction } from "@/lib/audit";
import { Button } from "./Button";
import { cx } from "./cx";
import { EmptyState, ErrorState, SkeletonRows } from "./states";
import { Time } from "./Time";

interface Props {
  list: UseInfiniteQueryResult<InfiniteData<{ items: AuditEntry[] }>>;
  /** What would be here, if there is nothing. */
  children: ReactNode;
}

export function AuditEntries({ list, children }: Props) {
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      {list.isPending && <SkeletonRows rows={10} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && rows.length === 0 && (
        <EmptyState title="No entries match">{children}</EmptyState>
      )}
      <ul aria-label="Audit log">
        {rows.map((entry) => (
          <Row key={entry.id} entry={entry} />
        ))}
      </ul>
      {list.hasNextPage && (
        <div className="p-3 text-center">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Older entries
          </Button>
        </div>
      )}
    </>
  );
}

function Row({ entry }: { entry: AuditEntry }) {
  const isFailure = entry.action.endsWith("failed");
  return (
    <li className="flex min-h-8 flex-wrap items-center gap-x-4 border-b px-3.5 py-1 last:border-0">
      <span className="w-36 text-muted">
        <Time at={entry.at} as="precise" />
      </span>
      <span
        title={auditIds(entry)}
        className="min-w-0 flex-1 break-words max-md:order-last max-md:basis-full"
      >
        <span className="font-medium">{actorOf(entry)}</span>{" "}
        <span className={cx(isFailure && "text-bad")}>{describeAction(entry)}</span>
      </span>
      <span className="ml-auto text-sm text-muted" title="Address">
        {entry.address}
      </span>
    </li>
  );
}
