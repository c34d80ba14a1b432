/** The numbers behind the chart: one row per group over the whole period, or one per step. */
import type { Query, Result } from "@/lib/analyticsQuery";
import type { Granularity } from "@/lib/api";
import type { Behind } from "@/lib/behind";
import { formatCounted } from "@/lib/format";
import type { Draft } from "@/lib/queryDraft";
import { useUrlState } from "@/lib/url";
import { ResultTable } from "@/ui/query/ResultTable";
import type { Sorting } from "@/ui/Table";
import { Tabs } from "@/ui/Tabs";

const TABLE_HEIGHT = 360;
const ROW_HEIGHT = 32;

interface Props {
  draft: Draft;
  onChange: (draft: Draft) => void;
  query: Query;
  result: Result;
  granularity: Granularity | null;
  behind: Behind;
}

export function ResultRows({ draft, onChange, query, result, granularity, behind }: Props) {
  const isGrouped = (query.groupBy ?? []).length > 0;
  // Who asks for a table with an interval wants its steps.
  const usual = isGrouped && draft.chart !== "table" ? "totals" : "steps";
  const [chosen, choose] = useUrlState<"totals" | "steps">("rows", usual);
  const hasSteps = granularity !== null && chosen === "steps";
  const rows = granularity === null || hasSteps ? result.rows : result.totals;
  const { field, order } = query.orderBy ?? { field: query.measures[0] ?? "", order: "desc" };
  const sorting: Sorting = {
    by: field,
    order,
    onChange: (by, next) => onChange({ ...draft, orderBy: { field: by, order: next } }),
  };
  return (
    <>
      <div className="-mx-3.5 mt-3">
        {granularity !== null && (
          <Tabs
            label="Rows"
            value={hasSteps ? "steps" : "totals"}
            onChange={(id) => choose(id as "totals" | "steps")}
            tabs={[
              { id: "totals", label: isGrouped ? "Total per group" : "Total" },
              { id: "steps", label: isGrouped ? "Groups over time" : "Over time" },
            ]}
          />
        )}
        <div
          className={granularity === null ? "border-t" : undefined}
          style={{ height: Math.min(TABLE_HEIGHT, (rows.length + 1) * ROW_HEIGHT + 2) }}
        >
          <ResultTable
            label="Rows"
            query={query}
            rows={rows}
            granularity={hasSteps ? granularity : null}
            behind={behind}
            // Steps follow each other in time, whatever their groups are ordered by.
            {...(isGrouped && !hasSteps && { sorting })}
          />
        </div>
      </div>
      <p className="pt-2 text-sm text-muted">{countText(rows.length, isGrouped, result)}</p>
    </>
  );
}

function countText(count: number, isGrouped: boolean, { total, truncated }: Result): string {
  const rows = formatCounted(count, "row");
  if (!isGrouped) return rows;
  const groups = formatCounted(total, "group");
  return truncated ? `${rows}: the first of ${groups}` : `${rows} of ${groups}`;
}
