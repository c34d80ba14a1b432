/** Loading failures, and marking one. */
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { api, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { useFilterQuery } from "@/lib/range";
import { useUrl } from "@/lib/url";
import { toast } from "@/ui/Toast";

export type Failure = Schemas["FailureGroup"];
export type FailureStatus = Schemas["FailureStatus"];
/** A failure regresses by itself. */
export type Mark = Schemas["NewFailureStatus"]["status"];

const PAGE = 50;

export function useFailures() {
  const { status, search, filters } = useUrl();
  const query = {
    ...useFilterQuery(),
    status: (status || undefined) as FailureStatus | undefined,
    search,
    filters,
  };
  return useInfiniteQuery({
    queryKey: ["failures", query],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/analytics/failures", {
          params: { query: { ...query, limit: PAGE, skip: pageParam } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
    placeholderData: keepPreviousData,
  });
}

const DONE: Record<FailureStatus, string> = {
  known: "Marked as known.",
  muted: "Muted.",
  new: "Unmuted.",
  regressed: "",
};

export function useMark() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, status }: { id: string; status: Mark }) =>
      unwrap(
        api.PUT("/api/analytics/failures/{failureId}", {
          params: { path: { failureId: id } },
          body: { status },
        }),
      ),
    onSuccess: ({ status }) => {
      void queries.invalidateQueries({ queryKey: ["failures"] });
      toast(DONE[status], "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
}
