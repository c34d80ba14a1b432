import { useBlocker } from "@tanstack/react-router";
import { ConfirmDialog } from "./ConfirmDialog";

/** Asks before unsaved changes are lost by leaving the page, closing the tab or reloading. */
export function UnsavedGuard({ isChanged }: { isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isChanged &&
      (current.pathname !== next.pathname || tabOf(current.search) !== tabOf(next.search)),
    enableBeforeUnload: isChanged,
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

function tabOf(search: unknown): unknown {
  return (search as Record<string, unknown>).tab;
}
