import { Bookmark } from "lucide-react";
import { lazy, Suspense } from "react";
import { TRIGGER } from "../overlayStyles";

const ViewsPopover = lazy(() => import("./ViewsPopover"));

const LABEL = (
  <>
    <Bookmark className="size-3.5 text-muted" aria-hidden /> Views
  </>
);

/** The saved views of a page; their code is loaded after the page. */
export function ViewsButton({ page }: { page: string }) {
  return (
    <Suspense fallback={<span className={TRIGGER}>{LABEL}</span>}>
      <ViewsPopover page={page} label={LABEL} />
    </Suspense>
  );
}
