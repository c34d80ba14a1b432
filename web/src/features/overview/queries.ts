/** The interval of the overview, and its queries besides those of its panels. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api";
import { afterPaint } from "@/lib/idle";
import { granularityOf, STEPS, type Step } from "@/lib/queryDraft";
import { type FilterQuery, useFilterQuery, useRange } from "@/lib/range";
import { useUrlState } from "@/lib/url";

/** The interval of the charts, and those that the range allows. */
export function useStep() {
  const [step, setStep] = useUrlState<Step>("step", "auto");
  const range = useRange();
  const steps = STEPS.filter(({ value }) => granularityOf(value, range) === value);
  return { step, setStep, steps };
}

function useAnalytics<Answer>(name: string, load: (query: FilterQuery) => Promise<Answer>) {
  const query = useFilterQuery();
  return useQuery({
    queryKey: ["analytics", name, query],
    queryFn: () => afterPaint().then(() => load(query)),
    placeholderData: keepPreviousData,
  });
}

export const useLatencies = () =>
  useAnalytics("distribution", (query) =>
    unwrap(api.GET("/api/analytics/traces/latency-distribution", { params: { query } })),
  );

export const useCosts = () =>
  useAnalytics("costs", (query) => unwrap(api.GET("/api/analytics/costs", { params: { query } })));

export const useErrors = () =>
  useAnalytics("errors", (query) =>
    unwrap(api.GET("/api/analytics/traces/errors-by-type", { params: { query } })),
  );

export const useTools = () =>
  useAnalytics("tools", (query) =>
    unwrap(api.GET("/api/analytics/traces/tool-usage", { params: { query } })),
  );
