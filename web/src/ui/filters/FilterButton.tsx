import { ListFilter } from "lucide-react";
import { lazy, Suspense } from "react";
import { type Condition, useConditions } from "@/lib/conditions";
import { TRIGGER } from "../overlayStyles";

const FilterPopover = lazy(() => import("./FilterPopover"));

const LABEL = (
  <>
    <ListFilter className="size-3.5 text-muted" aria-hidden /> Filter
  </>
);

/** Opens the form that adds a filter; its code is loaded after the page. */
export function FilterButton({ onAdd }: { onAdd: (added: readonly Condition[]) => void }) {
  return (
    <Suspense fallback={<span className={TRIGGER}>{LABEL}</span>}>
      <FilterPopover label={LABEL} onAdd={onAdd} />
    </Suspense>
  );
}

/** Adds to the filters in the URL. */
export function UrlFilterButton() {
  const [conditions, setConditions] = useConditions();
  return <FilterButton onAdd={(added) => setConditions([...conditions, ...added])} />;
}
