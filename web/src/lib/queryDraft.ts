/** A query as its form edits it, how it is kept in a URL, and the query that is sent. */
import {
  type Chart,
  type Entity,
  isDimension,
  isMeasure,
  measureOf,
  type Query,
} from "./analyticsQuery";
import type { Granularity, Schemas } from "./api";
import {
  ATTRIBUTE,
  type Condition,
  fieldInfo,
  readConditions,
  writeConditions,
} from "./conditions";
import { autoGranularity, bucketEnd, type Range } from "./range";
import type { Search } from "./url";

export type Panel = Schemas["Panel"];
/** `none`: one value per group, without a time series. */
export type Step = "auto" | "none" | Granularity;

export interface Draft {
  chart: Chart;
  of: Entity;
  measures: string[];
  groupBy: string[];
  filters: Condition[];
  step: Step;
  orderBy: NonNullable<Query["orderBy"]> | null;
  limit: number;
}

export const CHARTS: { value: Chart; label: string }[] = [
  { value: "line", label: "Lines" },
  { value: "area", label: "Areas" },
  { value: "bar", label: "Bars" },
  { value: "number", label: "Number" },
  { value: "table", label: "Table" },
];
export const STEPS: { value: Granularity; label: string }[] = [
  { value: "1m", label: "1 minute" },
  { value: "5m", label: "5 minutes" },
  { value: "15m", label: "15 minutes" },
  { value: "hourly", label: "Hourly" },
  { value: "daily", label: "Daily" },
  { value: "weekly", label: "Weekly" },
  { value: "monthly", label: "Monthly" },
];
export const LIMITS = [5, 10, 20, 50, 100, 500, 1000];
export const MOST_GROUPINGS = 3;
const DEFAULT_LIMIT = 20;
/** More points than this cannot be told apart in a chart. */
const MOST_BUCKETS = 400;

export const NEW_DRAFT: Draft = {
  chart: "line",
  of: "traces",
  measures: ["count"],
  groupBy: [],
  filters: [],
  step: "auto",
  orderBy: null,
  limit: DEFAULT_LIMIT,
};

function oneOf<T extends string>(values: readonly T[], value: string | undefined): T | undefined {
  return values.find((one) => one === value);
}

// Names may contain commas, which separate them.
const joinNames = (names: string[]) =>
  names.map((name) => name.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
const splitNames = (text: string) =>
  text
    .split(",")
    .map((name) => name.replaceAll("%2C", ",").replaceAll("%25", "%"))
    .filter((name) => name !== "");

export function readDraft(search: Search): Draft {
  const charts = CHARTS.map((one) => one.value);
  const chart = oneOf(charts, search.chart) ?? NEW_DRAFT.chart;
  const steps: Step[] = ["auto", "none", ...STEPS.map((one) => one.value)];
  const measures = splitNames(search.measures ?? "").filter(isMeasure);
  const [field, order] = splitNames(search.order ?? "");
  const limit = Number(search.limit);
  return {
    chart,
    of: oneOf(["traces", "spans"], search.of) ?? "traces",
    measures: measures.length > 0 ? measures : NEW_DRAFT.measures,
    groupBy: splitNames(search.by ?? "")
      .filter(isDimension)
      .slice(0, MOST_GROUPINGS),
    filters: readConditions(search.filters),
    step: oneOf(steps, search.step) ?? defaultStep(chart),
    orderBy: field ? { field, order: order === "asc" ? "asc" : "desc" } : null,
    limit: limit >= 1 && limit <= 1000 ? Math.floor(limit) : DEFAULT_LIMIT,
  };
}

export function draftToSearch(draft: Draft): Search {
  const { chart, of, measures, groupBy, filters, step, orderBy, limit } = draft;
  return {
    chart: chart === NEW_DRAFT.chart ? undefined : chart,
    of: of === "traces" ? undefined : of,
    measures: joinNames(measures),
    by: joinNames(groupBy) || undefined,
    filters: writeConditions(filters),
    step: step === defaultStep(chart) ? undefined : step,
    order: orderBy ? joinNames([orderBy.field, orderBy.order]) : undefined,
    limit: limit === DEFAULT_LIMIT ? undefined : String(limit),
  };
}

export function defaultStep(chart: Chart): Step {
  return chart === "line" || chart === "area" ? "auto" : "none";
}

/** Lines and areas need a time series, a number has none. */
export function stepsOf(chart: Chart): Step[] {
  if (chart === "number") return ["none"];
  const steps: Step[] = ["auto", ...STEPS.map((one) => one.value)];
  return chart === "line" || chart === "area" ? steps : ["none", ...steps];
}

export function withChart(draft: Draft, chart: Chart): Draft {
  const step = stepsOf(chart).includes(draft.step) ? draft.step : defaultStep(chart);
  return { ...draft, chart, step };
}

/**
 * The interval for a range. One that would draw too many points or a single one is replaced, so
 * that a panel stays readable when the range of its dashboard changes.
 */
export function granularityOf(step: Step, range: Range): Granularity | null {
  if (step === "none") return null;
  if (step === "auto") return autoGranularity(range);
  const from = range.from.getTime();
  const length = bucketEnd(range.from.toISOString(), step) - from;
  const buckets = (range.to.getTime() - from) / length;
  return buckets > MOST_BUCKETS || buckets < 2 ? autoGranularity(range) : step;
}

/** The query without dates; an attribute that is not chosen yet is left out. */
export function toQuery(draft: Draft, granularity: Granularity | null): Query {
  const groupBy = [...new Set(draft.groupBy)].filter((name) => name !== ATTRIBUTE);
  const { orderBy } = draft;
  const names = [...draft.measures, ...groupBy];
  return {
    of: draft.of,
    measures: draft.measures,
    groupBy,
    filters: draft.filters,
    granularity,
    orderBy: orderBy && names.includes(orderBy.field) ? orderBy : null,
    limit: draft.limit,
  };
}

/** Lines and areas without a granularity follow the range; bars need one to be over time. */
export function draftToPanel(draft: Draft, range: Range, frame: Omit<Panel, "chart" | "query">) {
  const isImplied = draft.step === "none" || draft.step === defaultStep(draft.chart);
  const granularity = isImplied ? null : granularityOf(draft.step, range);
  return { ...frame, chart: draft.chart, query: toQuery(draft, granularity) };
}

export function panelToDraft({ chart, query }: Pick<Panel, "chart" | "query">): Draft {
  return {
    chart,
    of: query.of,
    measures: query.measures,
    groupBy: query.groupBy ?? [],
    filters: query.filters ?? [],
    step: chart === "number" ? "none" : (query.granularity ?? defaultStep(chart)),
    orderBy: query.orderBy ?? null,
    limit: query.limit,
  };
}

/** "Cost by model", as a title for a new panel. */
export function describeDraft({ measures, groupBy }: Draft): string {
  const by = groupBy.filter((name) => name !== ATTRIBUTE).map((one) => fieldInfo(one).label);
  const what = measures.map((name) => measureOf(name).label).join(", ");
  return by.length > 0 ? `${what} by ${by.join(" and ").toLowerCase()}` : what;
}
