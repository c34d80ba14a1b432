/** The list of traces or spans behind a part of a query's result: a row, a bar, a point of a chart. */
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Query, Row } from "./analyticsQuery";
import type { Granularity } from "./api";
import { type Condition, writeConditions } from "./conditions";
import { bucketEnd, GLOBAL_KEYS } from "./range";
import { type Search, stringifySearch, useUrl } from "./url";

export interface Part {
  /** Its group. */
  row?: Row | undefined;
  /** All groups but these, of a query with one grouping. */
  except?: Row[] | undefined;
  /** Of errors, only what failed is listed. */
  measure?: string | undefined;
  /** The start of its step. */
  step?: { date: string; granularity: Granularity } | undefined;
}

const FAILED: Condition = { field: "status", op: "eq", value: "error" };

/** The page that lists what a part consists of, and its URL parameters. */
export function listBehind({ of, filters = [], groupBy = [] }: Query, part: Part) {
  const { row, except = [], measure, step } = part;
  const ofGroup = row ? groupBy.map((field) => equals(field, row[field])) : [];
  const [only, ...further] = groupBy;
  const ofOthers =
    only && further.length === 0 ? except.map((other) => differs(only, other[only])) : [];
  const ofMeasure = measure === "errors" || measure === "errorRate" ? [FAILED] : [];
  const all = [...filters, ...ofGroup, ...ofOthers, ...ofMeasure].map((one) => JSON.stringify(one));
  const conditions = [...new Set(all)].map((one) => JSON.parse(one) as Condition);
  const search: Search = {
    filters: writeConditions(conditions),
    // They are among the conditions, if the page has them.
    agent: undefined,
    env: undefined,
    ...(of === "spans" && { tab: "list" }),
    ...(step && {
      range: undefined,
      from: new Date(step.date).toISOString(),
      to: new Date(bucketEnd(step.date, step.granularity)).toISOString(),
    }),
  };
  return { to: of === "spans" ? "/spans" : "/traces", search };
}

function equals(field: string, value: unknown): Condition {
  return value === null || value === undefined
    ? { field, op: "exists", value: false }
    : { field, op: "eq", value: String(value) };
}

function differs(field: string, value: unknown): Condition {
  return value === null || value === undefined
    ? { field, op: "exists" }
    : { field, op: "ne", value: String(value) };
}

export interface Behind {
  open: (part: Part) => void;
  hrefOf: (part: Part) => string;
}

export function useBehind(query: Query): Behind {
  const navigate = useNavigate();
  const url = useUrl();
  const kept = JSON.stringify(GLOBAL_KEYS.map((key) => [key, url[key]]));
  return useMemo(
    () => ({
      open: (part) => {
        const { to, search } = listBehind(query, part);
        void navigate({ to, search: search });
      },
      hrefOf: (part) => {
        const { to, search } = listBehind(query, part);
        return to + stringifySearch({ ...Object.fromEntries(JSON.parse(kept)), ...search });
      },
    }),
    [query, navigate, kept],
  );
}
