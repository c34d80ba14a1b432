/** The text of a filter: a failure has its title instead of its id. */
import { useQueries } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api";
import { queries } from "@/lib/client";
import { type Condition, describeConditions } from "@/lib/conditions";
import { FAILURE } from "@/lib/filterFields";
import { rangeQuery, useRange } from "@/lib/range";

export function useConditionText(conditions: readonly Condition[]): string {
  const values = conditions.flatMap(({ value }) => value ?? []);
  const labels = useConditionLabels(conditions[0]?.field ?? "", values);
  const [first] = conditions;
  if (first?.field !== FAILURE || values.length === 0) return describeConditions(conditions);
  return describeConditions([{ ...first, value: labels }]);
}

/** The texts of values. */
export function useConditionLabels(field: string, values: readonly unknown[]): string[] {
  const range = useRange();
  const dates = rangeQuery(range);
  const ids = field === FAILURE ? values.map(String) : [];
  const titles = useQueries({
    queries: ids.map((failureId) => ({
      // A failure is found in a period in which it occurred.
      queryKey: ["failure", failureId, range.preset ?? dates],
      queryFn: async () =>
        findTitle(failureId) ??
        (
          await unwrap(
            api.GET("/api/analytics/failures/{failureId}", {
              params: { path: { failureId }, query: dates },
            }),
          )
        ).title,
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
    })),
    combine: (answers) => answers.map(({ data }) => data),
  });
  return values.map((value, at) => titles[at] ?? String(value));
}

/** The title is the same in every period. */
function findTitle(failureId: string): string | undefined {
  const known = queries.getQueriesData<string>({ queryKey: ["failure", failureId] });
  return known.find(([, title]) => title !== undefined)?.[1];
}
