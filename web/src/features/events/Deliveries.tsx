import { useInfiniteQuery } from "@tanstack/react-query";
import { api, unwrapPage } from "@/lib/api";
import { useUrl, useUrlState } from "@/lib/url";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Select } from "@/ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import type { Delivery } from "./types";

const TONES: Record<Delivery["status"], Tone> = {
  pending: "warning",
  delivered: "good",
  failed: "bad",
};

function useDeliveries(status: string, webhookId: string | undefined) {
  return useInfiniteQuery({
    queryKey: ["events", "deliveries", status, webhookId],
    queryFn: ({ pageParam }) => {
      const query = {
        limit: 50,
        skip: pageParam,
        status: (status || undefined) as Delivery["status"] | undefined,
      };
      return unwrapPage(
        webhookId
          ? api.GET("/api/events/webhooks/{webhookId}/deliveries", {
              params: { path: { webhookId }, query },
            })
          : api.GET("/api/events/deliveries", { params: { query } }),
      );
    },
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
  });
}

/** E-mails and webhook messages of the last 30 days with their delivery status. */
export function Deliveries() {
  const [status, setStatus] = useUrlState("delivery", "");
  const { webhook } = useUrl();
  const list = useDeliveries(status, webhook);
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div>
      <div className="border-b p-2">
        <Select
          aria-label="Outcome"
          value={status}
          onChange={setStatus}
          options={[{ value: "", label: "All outcomes" }, "pending", "delivered", "failed"]}
        />
      </div>
      {list.isPending && <SkeletonRows rows={6} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && rows.length === 0 && (
        <EmptyState title="No deliveries">
          Alert e-mails and webhook messages are listed here with their outcome.
        </EmptyState>
      )}
      <ul aria-label="Deliveries">
        {rows.map((delivery) => (
          <Row key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {list.hasNextPage && (
        <div className="p-3 text-center">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Older deliveries
          </Button>
        </div>
      )}
    </div>
  );
}

function Row({ delivery }: { delivery: Delivery }) {
  const status =
    delivery.error ?? (delivery.responseStatus ? `HTTP ${delivery.responseStatus}` : "");
  const outcome = [status, delivery.response].filter(Boolean).join(": ");
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-4 border-b px-3.5 py-1 last:border-0">
      <span className="w-20">
        <Badge tone={TONES[delivery.status]}>{delivery.status}</Badge>
      </span>
      <span className="w-40 truncate">{delivery.type}</span>
      <span className="min-w-0 flex-1 basis-48 truncate text-muted" title={delivery.target}>
        {delivery.target}
      </span>
      <span className="min-w-0 basis-48 truncate text-sm text-muted" title={outcome}>
        {outcome}
      </span>
      <span className="w-20 text-right text-sm text-muted">
        {delivery.attempts} {delivery.attempts === 1 ? "attempt" : "attempts"}
      </span>
      <span className="w-20 text-right text-sm text-muted">
        <Time at={delivery.createdAt} />
      </span>
    </li>
  );
}
