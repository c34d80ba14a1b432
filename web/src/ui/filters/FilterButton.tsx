import { ListFilter } from "lucide-react";
import { lazy, Suspense } from "react";
import { TRIGGER } from "../overlayStyles";

const FilterPopover = lazy(() => import("./FilterPopover"));

const LABEL = (
  <>
    <ListFilter className="size-3.5 text-muted" aria-hidden /> Filter
  </>
);

/** Opens the form that adds a filter; its code is loaded after the page. */
export function FilterButton() {
  return (
    <Suspense fallback={<span className={TRIGGER}>{LABEL}</span>}>
      <FilterPopover label={LABEL} />
    </Suspense>
  );
}
