/** Any question about traces and spans: measures, groups, filters, as a chart and as a table. */
import { LayoutDashboard } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { measureOf, type Query, type Result, sharedDimension } from "@/lib/analyticsQuery";
import type { Granularity } from "@/lib/api";
import { useBehind } from "@/lib/behind";
import { fieldInfo } from "@/lib/filterFields";
import { type Draft, describeDraft, draftToSearch, readDraft, STEPS } from "@/lib/queryDraft";
import { useResult } from "@/lib/runQuery";
import { useSetUrl, useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { PageBody, Panel } from "@/ui/Panel";
import { QueryChart } from "@/ui/query/QueryChart";
import { QueryForm } from "@/ui/query/QueryForm";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, QueryResult } from "@/ui/states";
import { ResultRows } from "./ResultRows";
import { SaveDialog } from "./SaveDialog";

const CHART_HEIGHT = 320;

function useDraft(): [Draft, (draft: Draft) => void] {
  const { chart, of, measures, by, filters, step, order, limit } = useUrl();
  const setUrl = useSetUrl();
  const draft = useMemo(
    () => readDraft({ chart, of, measures, by, filters, step, order, limit }),
    [chart, of, measures, by, filters, step, order, limit],
  );
  const set = useCallback((next: Draft) => setUrl(draftToSearch(next)), [setUrl]);
  return [draft, set];
}

export default function ExplorePage() {
  const [draft, setDraft] = useDraft();
  const [isSaving, setSaving] = useState(false);
  const { answer, granularity, query } = useResult(draft);
  const title = describeDraft(draft);
  return (
    <PageBody
      title="Explore"
      actions={
        <>
          <ViewsButton page="explore" />
          <RoleButton
            needs="editor"
            kind="primary"
            icon={<LayoutDashboard className="size-3.5" />}
            onClick={() => setSaving(true)}
          >
            Save to dashboard
          </RoleButton>
        </>
      }
    >
      <div className="mb-3 rounded-lg border bg-surface p-3.5">
        <QueryForm draft={draft} onChange={setDraft} />
      </div>
      <Panel title={title} unit={unitText(draft, granularity)}>
        <SharedSums draft={draft} onChange={setDraft} />
        <QueryResult
          query={answer}
          rejected="The query is not valid"
          slow={readsAttributes(query) ? "Attributes are read from every span." : undefined}
          height={CHART_HEIGHT}
        >
          {(result) =>
            result.rows.length === 0 ? (
              <NothingFound draft={draft} onChange={setDraft} />
            ) : (
              <Shown
                title={title}
                draft={draft}
                onChange={setDraft}
                query={query}
                result={result}
                granularity={granularity}
              />
            )
          }
        </QueryResult>
      </Panel>
      {isSaving && <SaveDialog draft={draft} onClose={() => setSaving(false)} />}
    </PageBody>
  );
}

/** A trace with several models or tools counts in full for each of them. */
function SharedSums({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const shared = sharedDimension(draft);
  const isSum = draft.measures.some((name) => measureOf(name).isAdditive);
  if (!shared || !isSum) return null;
  const label = fieldInfo(shared).label.toLowerCase();
  return (
    <p className="mb-2 text-sm text-warning">
      A trace counts in full, with its whole cost, for each {label} in it.{" "}
      <button
        type="button"
        className="font-medium underline"
        onClick={() => onChange({ ...draft, of: "spans" })}
      >
        Measure spans instead
      </button>
    </p>
  );
}

function readsAttributes({ groupBy = [], filters = [] }: Query): boolean {
  return [...groupBy, ...filters.map((one) => one.field)].some((name) =>
    name.startsWith("attribute:"),
  );
}

/** Says so when the chosen interval was replaced. */
function unitText({ of, step }: Draft, granularity: Granularity | null): string {
  if (granularity === null) return of;
  const label = STEPS.find((one) => one.value === granularity)?.label.toLowerCase();
  const isReplaced = step !== "auto" && step !== granularity;
  return `${of}, ${label}${isReplaced ? " (interval adjusted to the time range)" : ""}`;
}

interface ShownProps {
  title: string;
  draft: Draft;
  onChange: (draft: Draft) => void;
  query: Query;
  result: Result;
  granularity: Granularity | null;
}

function Shown(props: ShownProps) {
  const { title, draft, query, result, granularity } = props;
  const behind = useBehind(query);
  return (
    <>
      {draft.chart !== "table" && (
        <QueryChart
          title={title}
          chart={draft.chart}
          query={query}
          result={result}
          granularity={granularity}
          height={draft.chart === "number" ? CHART_HEIGHT / 2 : CHART_HEIGHT}
          behind={behind}
        />
      )}
      <ResultRows {...props} behind={behind} />
    </>
  );
}

function NothingFound({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const hasFilters = draft.filters.length > 0;
  return (
    <EmptyState
      title={`No ${draft.of} match in this period`}
      action={
        hasFilters && (
          <Button onClick={() => onChange({ ...draft, filters: [] })}>Clear filters</Button>
        )
      }
    >
      {hasFilters
        ? "Remove a filter or choose a longer time range."
        : "Choose a longer time range."}
    </EmptyState>
  );
}
