import { useInfiniteQuery } from "@tanstack/react-query";
import { api, unwrapPage } from "@/lib/api";
import { useUrlState } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CopyId } from "@/ui/Copy";
import { Input } from "@/ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";

export function Audit() {
  const [action, setAction] = useUrlState("action", "");
  const list = useInfiniteQuery({
    queryKey: ["admin", "audit", action],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/admin/audit", {
          params: { query: { limit: 50, skip: pageParam, action: action || undefined } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
    placeholderData: (before) => before,
  });
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div>
      <div className="border-b p-2">
        <Input
          type="search"
          aria-label="Filter by action"
          placeholder="Filter by action, for example login.failed"
          className="max-w-80"
          value={action}
          onChange={(event) => setAction(event.target.value)}
        />
      </div>
      {list.isPending && <SkeletonRows rows={10} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && rows.length === 0 && (
        <EmptyState title="No entries match">
          Sign-ins and changes to keys, roles and prices are recorded here.
        </EmptyState>
      )}
      <ul aria-label="Audit trail">
        {rows.map((entry) => (
          <li
            key={entry.id}
            className="flex min-h-8 flex-wrap items-center gap-x-4 border-b px-3.5 py-1 last:border-0"
          >
            <span className="w-32 text-muted">
              <Time at={entry.at} as="short" />
            </span>
            <span className="w-48">
              <Badge tone={entry.action.endsWith("failed") ? "bad" : "neutral"}>
                {entry.action}
              </Badge>
            </span>
            <span className="min-w-0 flex-1 truncate text-sm text-muted max-md:order-last max-md:basis-full">
              {entry.actor && (
                <>
                  by <CopyId id={entry.actor} />
                </>
              )}{" "}
              {entry.subject && (
                <>
                  on <CopyId id={entry.subject} ends={10} />
                </>
              )}
            </span>
            <span className="text-sm text-muted">{entry.address}</span>
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <div className="p-3 text-center">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Older entries
          </Button>
        </div>
      )}
    </div>
  );
}
