import { useBlocker } from "@tanstack/react-router";
import { hasUnsaved } from "@/lib/unsaved";
import type { Search } from "@/lib/url";
import { workspace } from "@/lib/workspace";
import { ConfirmDialog } from "@/ui/ConfirmDialog";

interface Place {
  pathname: string;
  search: unknown;
}

/** Forms are remounted when one of these changes; other parameters only change what is beside them. */
function placeOf({ pathname, search }: Place): string {
  const { ws, tab, alert } = search as Search;
  return JSON.stringify([pathname, ws ?? workspace.id(), tab, alert]);
}

export function losesChanges({ current, next }: { current: Place; next: Place }): boolean {
  return hasUnsaved() && placeOf(current) !== placeOf(next);
}

/** Asks before unsaved changes are lost by leaving a form, closing the tab or reloading. */
export function UnsavedGuard() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: losesChanges,
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      isOpen={status === "blocked"}
      onClose={() => reset?.()}
      onConfirm={() => proceed?.()}
      title="Leave without saving?"
      action="Leave"
      isBusy={false}
      isDangerous
    >
      Your changes on this page are not saved yet.
    </ConfirmDialog>
  );
}
