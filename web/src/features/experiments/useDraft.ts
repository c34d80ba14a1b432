/** Keeps what was entered into the wizard until it is saved or discarded, also in another tab. */
import { useState } from "react";
import { useWorkspaceId } from "@/lib/workspace";
import type { DraftExperiment } from "./draft";

interface Kept {
  /** What the changes were made to. */
  base: DraftExperiment;
  draft: DraftExperiment;
}

const isSame = (a: DraftExperiment, b: DraftExperiment) => JSON.stringify(a) === JSON.stringify(b);

/** `saved` is what the wizard starts with: an empty experiment or the stored draft. */
export function useDraft(id: string, saved: DraftExperiment) {
  const name = `spanwise.experiment.${useWorkspaceId()}.${id}`;
  const [kept, setKept] = useState(() => read(name));
  const { base, draft } = kept ?? { base: saved, draft: saved };
  const clear = () => {
    localStorage.removeItem(name);
    setKept(null);
  };
  const change = (changes: Partial<DraftExperiment>) => {
    const next = { base, draft: { ...draft, ...changes } };
    localStorage.setItem(name, JSON.stringify(next));
    setKept(next);
  };
  return {
    draft,
    change,
    clear,
    isChanged: !isSame(draft, saved),
    /** Whether somebody saved it after these changes were begun. */
    isOutdated: !isSame(base, saved) && !isSame(draft, saved),
  };
}

function read(name: string): Kept | null {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") as Kept | null;
  } catch {
    return null;
  }
}
