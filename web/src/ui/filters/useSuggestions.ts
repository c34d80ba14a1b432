/** Attributes and values that occur in the range, most frequent first. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useContext } from "react";
import { api, unwrap, unwrapPage } from "@/lib/api";
import type { Condition } from "@/lib/conditions";
import { ATTRIBUTE, FAILURE, FilteredRowsContext } from "@/lib/filterFields";
import { rangeQuery, useRange } from "@/lib/range";

export interface Suggestion {
  name: string;
  /** Unknown for values that are the same in every range. */
  count?: number;
  /** Shown instead of the name: a failure has a title. */
  label?: string;
}

const MOST = 50;
const shared = { placeholderData: keepPreviousData, staleTime: 60_000 };

export function useAttributeKeys(search: string, isEnabled = true) {
  const { attributes } = useContext(FilteredRowsContext);
  const query = { ...rangeQuery(useRange()), search: search || undefined, limit: MOST };
  return useQuery({
    ...shared,
    queryKey: ["attributes", attributes ?? query],
    enabled: isEnabled,
    queryFn: async (): Promise<Suggestion[]> =>
      attributes?.map((name) => ({ name })) ??
      (await unwrapPage(api.GET("/api/analytics/attributes", { params: { query } }))).items,
  });
}

/**
 * The values of a field by the number of traces, those of an attribute by the number of spans.
 * `where` restricts the values of a field.
 */
export function useValues(
  field: string,
  search: string,
  isEnabled: boolean,
  where: readonly Condition[] = [],
) {
  const range = rangeQuery(useRange());
  const known = useContext(FilteredRowsContext).values?.[field];
  const isFailure = field === FAILURE;
  return useQuery({
    ...shared,
    // The values of another field must not be shown meanwhile.
    placeholderData: undefined,
    queryKey: ["attributes", "values", field, isFailure ? "" : search, known ?? range, where],
    enabled: isEnabled,
    queryFn: (): Suggestion[] | Promise<Suggestion[]> => {
      if (known) return known.filter((name) => includes(name, search)).map((name) => ({ name }));
      if (isFailure) return failures(range);
      return field.startsWith(ATTRIBUTE)
        ? attributeValues(field.slice(ATTRIBUTE.length), search, range)
        : fieldValues(field, search, range, where);
    },
    // The service does not search titles.
    select: (found) =>
      isFailure ? found.filter(({ label = "" }) => includes(label, search)) : found,
  });
}

function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.trim().toLowerCase());
}

type Dates = ReturnType<typeof rangeQuery>;

async function attributeValues(key: string, search: string, dates: Dates): Promise<Suggestion[]> {
  const query = { ...dates, key, search: search || undefined, limit: MOST };
  return (await unwrapPage(api.GET("/api/analytics/attributes", { params: { query } }))).items;
}

async function failures(dates: Dates): Promise<Suggestion[]> {
  const query = { ...dates, limit: 100 };
  const { items } = await unwrapPage(api.GET("/api/analytics/failures", { params: { query } }));
  return items.map(({ id, title, traces }) => ({ name: id, label: title, count: traces }));
}

async function fieldValues(
  field: string,
  search: string,
  dates: Dates,
  where: readonly Condition[],
): Promise<Suggestion[]> {
  const found = await unwrap(
    api.POST("/api/analytics/query", {
      body: {
        ...dates,
        of: "traces",
        measures: ["count"],
        groupBy: [field],
        filters: [...where, ...(search ? [{ field, op: "contains", value: search } as const] : [])],
        limit: MOST,
      },
    }),
  );
  // A trace with several models is counted for each of them, also for those that do not match.
  return found.rows
    .map((row) => ({ name: row[field] as string | null, count: Number(row.count) }))
    .flatMap(({ name, count }) => (name !== null && includes(name, search) ? { name, count } : []));
}
