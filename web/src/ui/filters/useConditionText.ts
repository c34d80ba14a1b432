/** The text of a filter: a failure has its title instead of its id. */
import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api";
import { type Condition, describeCondition } from "@/lib/conditions";
import { rangeQuery, useRange } from "@/lib/range";

export function useConditionText(condition: Condition): string {
  const range = useRange();
  const { field, value } = condition;
  const failureId = field === "failure" && typeof value === "string" ? value : "";
  const { data } = useQuery({
    // The title is the same in every period.
    queryKey: ["failure", failureId],
    queryFn: () =>
      unwrap(
        api.GET("/api/analytics/failures/{failureId}", {
          params: { path: { failureId }, query: rangeQuery(range) },
        }),
      ),
    enabled: failureId !== "",
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return describeCondition(data ? { ...condition, value: data.title } : condition);
}
