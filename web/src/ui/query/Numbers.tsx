/** The values of a query as large figures; a single group has its trend and its change. */
import type { CSSProperties } from "react";
import {
  formatMeasure,
  groupName,
  measureFormat,
  measureOf,
  measureValue,
  type Query,
  type Row,
} from "@/lib/analyticsQuery";
import { capitalize, formatCompact } from "@/lib/format";
import type { PanelResult } from "@/lib/runQuery";
import { measureSeries } from "@/lib/series";
import { Change } from "../Change";
import { Sparkline } from "../Sparkline";

interface Props {
  title: string;
  query: Query;
  result: PanelResult;
  height: number;
}

/** Below this height there is no place for a trend. */
const TREND_FROM = 70;

export function Numbers({ title, query, result, height }: Props) {
  const groupBy = query.groupBy ?? [];
  const trend = height >= TREND_FROM ? result.trend : undefined;
  const count = result.rows.length * query.measures.length;
  return (
    <div
      role="region"
      tabIndex={0}
      aria-label={title}
      // On narrow screens, where figures wrap, it grows with them.
      className="flex h-(--height) flex-wrap content-center gap-x-6 gap-y-3 overflow-auto max-xl:h-auto max-xl:min-h-(--height)"
      style={{ "--height": `${height}px` } as CSSProperties}
    >
      {result.rows.map((row, index) =>
        query.measures.map((measure) => {
          // Among other figures, a bare count would not say of what.
          const label = measure === "count" ? capitalize(query.of) : measureOf(measure).label;
          const words = [groupName(row, groupBy), label].filter((one) => one !== "").join(" · ");
          return (
            <Figure
              key={`${index} ${words}`}
              label={count > 1 ? words : null}
              measure={measure}
              row={row}
              before={result.before}
              trend={trend}
            />
          );
        }),
      )}
    </div>
  );
}

interface FigureProps {
  label: string | null;
  measure: string;
  row: Row;
  before: Row | undefined;
  trend: Row[] | undefined;
}

function Figure({ label, measure, row, before, trend }: FigureProps) {
  const { meaning, unit, note } = measureOf(measure);
  // Exact tokens would leave no place for the change.
  const show = unit === "tokens" ? formatCompact : measureFormat(measure);
  const value = measureValue(row, measure);
  return (
    <div className={trend ? "min-w-0 flex-1 basis-36" : "min-w-0"}>
      <p className="flex items-baseline gap-2">
        <span
          title={formatMeasure(measure, value)}
          className="text-2xl font-semibold tracking-tight whitespace-nowrap"
        >
          {value === null ? "–" : show(value)}
        </span>
        <Change
          value={value ?? undefined}
          before={(before && measureValue(before, measure)) ?? undefined}
          show={show}
          meaning={meaning ?? "neutral"}
        />
      </p>
      {label !== null && (
        <p title={note} className="truncate text-sm text-muted">
          {label}
        </p>
      )}
      {trend && (
        <div className="mt-1.5">
          <Sparkline
            values={trend.map((point) => measureValue(point, measure))}
            colour={measureSeries(measure)?.colour ?? "var(--measure-1)"}
          />
        </div>
      )}
    </div>
  );
}
