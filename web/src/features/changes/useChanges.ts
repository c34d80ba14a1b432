/** What is compared, kept in the URL, and the answer of the service. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, unwrap } from "@/lib/api";
import { type Condition, NATURAL, useConditions } from "@/lib/conditions";
import { type Group, groupsOf, numberOf, pageConditions } from "@/lib/groups";
import { type Range, rangeQuery, useFilterQuery, useRange } from "@/lib/range";
import { type Search, useSetUrl, useUrl } from "@/lib/url";
import { useValues } from "@/ui/filters/useSuggestions";
import type { Changes } from "./measures";

const DAY = 86_400_000;

/** The baseline of two periods: how long before the period of the page it lies. */
export const SHIFTS = {
  "": { label: "The period before", days: null },
  day: { label: "One day earlier", days: 1 },
  week: { label: "One week earlier", days: 7 },
  month: { label: "Four weeks earlier", days: 28 },
} as const;
export type Shift = keyof typeof SHIFTS;

export interface Comparison {
  dimension: string;
  baseline: string;
  candidate: string;
  shift: Shift;
}

/** Values of these belong to an agent: those of different agents do different work. */
const OF_AN_AGENT = ["serviceVersion", "model", "provider", "tool"];

/**
 * Without values in the URL, the two most frequent ones, in their natural order. For values that
 * belong to an agent, one has to be chosen first if there are several.
 */
export function useComparison() {
  const url = useUrl();
  const setUrl = useSetUrl();
  const dimension = url.by ?? "";
  const isNamed = dimension !== "" && !dimension.endsWith(":");
  const [conditions] = useConditions();
  const where = [...pageConditions(url), ...conditions];
  const values = useValues(dimension, "", isNamed, where);
  const names = useMemo(() => values.data?.map((one) => one.name) ?? [], [values.data]);
  const isOfAll = OF_AN_AGENT.includes(dimension) && !where.some(({ field }) => field === "agent");
  const rows = useRowsByAgent(dimension, isOfAll, where);
  const agents = useMemo(() => rows && agentsWithTwo(dimension, rows), [dimension, rows]);
  const needsAgent = isOfAll && new Set(rows?.map(({ agent }) => agent)).size !== 1;
  const comparison = useMemo((): Comparison => {
    const [first = "", second = ""] = defaultValues(
      needsAgent ? [] : names,
      url.baseline,
      url.candidate,
    );
    const shift = (url.against ?? "") in SHIFTS ? ((url.against ?? "") as Shift) : "";
    return {
      dimension,
      baseline: url.baseline ?? first,
      candidate: url.candidate ?? second,
      shift,
    };
  }, [dimension, names, needsAgent, url.baseline, url.candidate, url.against]);
  const change = (search: Search) => setUrl(search, { push: true });
  const isLoading = isNamed && (values.isPending || (isOfAll && !agents));
  const choices = (needsAgent && agents) || [];
  return { comparison, where, names, agents: choices, isNamed, isLoading, change };
}

/** The values of a field by agent. */
function useRowsByAgent(field: string, isEnabled: boolean, filters: Condition[]) {
  const query = groupsOf({
    measures: ["count"],
    groupBy: isEnabled ? ["agent", field as "model"] : [],
    filters,
    limit: 1000,
    ...rangeQuery(useRange()),
  });
  const { data } = useQuery({ ...query, enabled: isEnabled });
  return data?.rows;
}

/** The agents with at least two values, those with the most traces of the second value first. */
export function agentsWithTwo(field: string, rows: readonly Group[]): string[] {
  const counts = new Map<string, number[]>();
  for (const row of rows) {
    const { agent } = row;
    if (typeof agent === "string" && typeof row[field] === "string")
      counts.set(agent, [...(counts.get(agent) ?? []), numberOf(row, "count") ?? 0]);
  }
  const second = (sizes: number[]) => sizes.toSorted((a, b) => b - a)[1] ?? 0;
  return [...counts]
    .filter(([, sizes]) => sizes.length > 1)
    .toSorted(([, a], [, b]) => second(b) - second(a))
    .map(([agent]) => agent);
}

export function defaultValues(names: readonly string[], ...given: (string | undefined)[]) {
  const free = names.filter((name) => !given.includes(name)).slice(0, 2);
  if (given.every((one) => one === undefined)) return free.sort(NATURAL.compare);
  return [free[0], free[0]];
}

function baselineDates(shift: Shift, { from, to }: Range) {
  const { days } = SHIFTS[shift];
  if (days === null) return {};
  const earlier = (date: Date) => new Date(date.getTime() - days * DAY).toISOString();
  return { baselineStart: earlier(from), baselineEnd: earlier(to) };
}

export function useChanges({ dimension, baseline, candidate, shift }: Comparison) {
  const range = useRange();
  const { filters } = useUrl();
  const sides = dimension ? { dimension, baseline, candidate } : baselineDates(shift, range);
  const query = { ...useFilterQuery(), filters, ...sides };
  const isComplete =
    !dimension || (!dimension.endsWith(":") && baseline !== "" && candidate !== "");
  return useQuery({
    queryKey: ["changes", query],
    queryFn: () => unwrap(api.GET("/api/analytics/changes", { params: { query } })),
    enabled: isComplete,
    placeholderData: keepPreviousData,
  });
}

/** The URL parameters of the traces of one side, with more conditions. */
export function useSideSearch(changes: Changes) {
  const [conditions] = useConditions();
  return (name: "baseline" | "candidate", more: readonly Condition[] = []) => {
    const { value, startDate, endDate } = changes[name];
    const own: Condition[] =
      changes.dimension && value !== null ? [{ field: changes.dimension, op: "eq", value }] : [];
    const filters = [...conditions, ...own, ...more];
    return {
      from: startDate,
      to: endDate,
      range: undefined,
      filters: filters.length > 0 ? JSON.stringify(filters) : undefined,
    };
  };
}
