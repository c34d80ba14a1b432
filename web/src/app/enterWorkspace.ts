/** Decides in which workspace a URL is shown. */
import { queries } from "@/lib/client";
import { defaultWorkspace, profileQuery, workspacesQuery } from "@/lib/queries";
import { workspace } from "@/lib/workspace";

/**
 * Enters the workspace that the URL names, else the latest or the default one. A foreign one is
 * not entered: the frame says so. Loads nothing unless the workspace is new to this browser.
 */
export function enterWorkspace(named: string | undefined): Promise<void> | undefined {
  const current = workspace.id();
  if (current && (!named || named === current)) return undefined;
  const known = queries.getQueryData(workspacesQuery.queryKey)?.find((one) => one.id === named);
  if (!known) return findAndEnter(named);
  workspace.enter(known.id);
}

async function findAndEnter(named: string | undefined): Promise<void> {
  try {
    const [own, profile] = await Promise.all([
      queries.fetchQuery({ ...workspacesQuery, staleTime: 0 }),
      queries.fetchQuery(profileQuery),
    ]);
    const [wanted, current] = [named, workspace.id()].map((id) => own.find((one) => one.id === id));
    const found = wanted ?? current ?? defaultWorkspace(own, profile);
    if (found) workspace.enter(found.id);
  } catch {
    // The page shows what is wrong with the service.
  }
}
