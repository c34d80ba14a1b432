/** Which forms on screen have unsaved changes, so that the frame asks before they are lost. */
import { useLayoutEffect } from "react";

const changed = new Set<symbol>();

export function hasUnsaved(): boolean {
  return changed.size > 0;
}

/** Asks before these changes are lost by leaving the page, switching the workspace or reloading. */
export function useUnsaved(isChanged: boolean) {
  useLayoutEffect(() => {
    if (!isChanged) return;
    const form = Symbol();
    changed.add(form);
    return () => void changed.delete(form);
  }, [isChanged]);
}
