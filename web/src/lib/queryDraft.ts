/** A query as its form edits it, how it is kept in a URL, and the query that is sent. */
import {
  addsUp,
  byUnit,
  type Chart,
  type Entity,
  isDimension,
  isMeasure,
  measureOf,
  type Query,
} from "./analyticsQuery";
import type { Granularity, Schemas } from "./api";
import { type Condition, readConditions, writeConditions } from "./conditions";
import { ATTRIBUTE, fieldInfo } from "./filterFields";
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
/** More points than this cannot be told apart in a chart, nor more buckets of bars beside each other. */
const MOST_BUCKETS = 400;
const MOST_BESIDES = 31;

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
  const measures = splitNames(search.measures ?? "").filter(isMeasure);
  const [field, order] = splitNames(search.order ?? "");
  const limit = Number(search.limit);
  const groupBy = splitNames(search.by ?? "")
    .filter(isDimension)
    .slice(0, MOST_GROUPINGS);
  return {
    chart,
    of: oneOf(["traces", "spans"], search.of) ?? "traces",
    measures: measures.length > 0 ? measures : NEW_DRAFT.measures,
    groupBy,
    filters: readConditions(search.filters),
    step: oneOf(stepsOf(chart), search.step) ?? defaultStep({ chart, groupBy }),
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
    step: step === defaultStep(draft) ? undefined : step,
    order: orderBy ? joinNames([orderBy.field, orderBy.order]) : undefined,
    limit: limit === DEFAULT_LIMIT ? undefined : String(limit),
  };
}

/** A table, and bars by something other than time, show the whole period. */
export function defaultStep({ chart, groupBy }: Pick<Draft, "chart" | "groupBy">): Step {
  const isOverTime = chart === "line" || chart === "area" || (chart === "bar" && !groupBy.length);
  return isOverTime ? "auto" : "none";
}

/** Lines and areas need a time series, a number has none. */
function stepsOf(chart: Chart): Step[] {
  if (chart === "number") return ["none"];
  const steps: Step[] = ["auto", ...STEPS.map((one) => one.value)];
  return chart === "line" || chart === "area" ? steps : ["none", ...steps];
}

/** The intervals that are offered; the whole period turns lines into bars. */
export function offeredSteps(chart: Chart): Step[] {
  return chart === "number" ? ["none"] : ["none", ...stepsOf("line")];
}

/** Changes a part of a draft; an interval that was not chosen follows the chart and its groups. */
export function withPart(draft: Draft, part: Partial<Draft>): Draft {
  const next = { ...draft, ...part };
  if (part.step !== undefined) {
    return stepsOf(next.chart).includes(part.step) ? next : { ...next, chart: "bar" };
  }
  const isKept = draft.step !== defaultStep(draft) && stepsOf(next.chart).includes(draft.step);
  return isKept ? next : { ...next, step: defaultStep(next) };
}

/** Bars that cannot be stacked stand beside each other. */
function isBesides(draft: Draft): boolean {
  if (draft.chart !== "bar") return false;
  return byUnit(draft.measures).some(
    ([, measures]) => (draft.groupBy.length > 0 || measures.length > 1) && !addsUp(draft, measures),
  );
}

/** The interval of a draft for a range. */
export function granularityOfDraft(draft: Draft, range: Range): Granularity | null {
  return granularityOf(draft.step, range, isBesides(draft) ? MOST_BESIDES : MOST_BUCKETS);
}

/**
 * The interval for a range. One that would draw too many points or a single one is replaced, so
 * that a panel stays readable when the range of its dashboard changes.
 */
export function granularityOf(step: Step, range: Range, most = MOST_BUCKETS): Granularity | null {
  if (step === "none") return null;
  const usual = autoGranularity(range);
  if (step !== "auto" && countBuckets(step, range) >= 2 && countBuckets(step, range) <= most) {
    return step;
  }
  const from = STEPS.findIndex(({ value }) => value === usual);
  const fitting = STEPS.slice(from).find(({ value }) => countBuckets(value, range) <= most);
  return fitting?.value ?? usual;
}

function countBuckets(step: Granularity, range: Range): number {
  const from = range.from.getTime();
  return (range.to.getTime() - from) / (bucketEnd(range.from.toISOString(), step) - from);
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
  const isImplied = draft.step === impliedStep(draft.chart);
  const granularity = isImplied ? null : granularityOfDraft(draft, range);
  return { ...frame, chart: draft.chart, query: toQuery(draft, granularity) };
}

/** What a panel without a granularity means. */
function impliedStep(chart: Chart): Step {
  return chart === "line" || chart === "area" ? "auto" : "none";
}

export function panelToDraft({ chart, query }: Pick<Panel, "chart" | "query">): Draft {
  return {
    chart,
    of: query.of,
    measures: query.measures,
    groupBy: query.groupBy ?? [],
    filters: query.filters ?? [],
    step: chart === "number" ? "none" : (query.granularity ?? impliedStep(chart)),
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
