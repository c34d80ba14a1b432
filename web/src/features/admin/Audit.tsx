import { useInfiniteQuery } from "@tanstack/react-query";
import { api, unwrapPage } from "@/lib/api";
import { useUrlState } from "@/lib/url";
import { AuditEntries } from "@/ui/AuditEntries";
import { Input } from "@/ui/Field";

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
      <AuditEntries list={list}>
        Sign-ins and changes to accounts, keys, members and prices are recorded here.
      </AuditEntries>
    </div>
  );
}
