/** Users and sessions whose id contains a text, for the palette. */
import { useQuery } from "@tanstack/react-query";
import { groupsOf } from "@/lib/groups";
import { currentRange, type Preset, rangeQuery, useRange } from "@/lib/range";

export type IdField = "userId" | "sessionId";

export interface FoundId {
  id: string;
  /** The range in which it occurs, if that is not the range of the page. */
  range?: Preset;
}

const SHORTEST = 2;
const MOST = 200;
const LONGEST: Preset = "90d";

/** Searches the range of the page and, if nothing matches there, the longest one. */
export function useFoundIds(field: IdField, text: string, most: number): FoundId[] {
  const isWanted = text.length >= SHORTEST;
  const query = {
    measures: ["count"],
    groupBy: [field],
    filters: [{ field, op: "contains" as const, value: text }],
    limit: MOST,
  };
  const near = useQuery({
    ...groupsOf({ ...query, ...rangeQuery(useRange()) }),
    enabled: isWanted,
  });
  const isMissing = isWanted && near.data?.rows.length === 0;
  const wide = useQuery({
    ...groupsOf({ ...query, ...rangeQuery(currentRange({ range: LONGEST })) }),
    enabled: isMissing,
  });
  if (!isWanted) return [];
  const rows = (isMissing ? wide.data?.rows : near.data?.rows) ?? [];
  const ids = rows.map((row) => String(row[field]));
  return bestMatches(ids, text, most).map((id) => (isMissing ? { id, range: LONGEST } : { id }));
}

/** The id itself, then those that begin with the text, then the others, each in the given order. */
export function bestMatches(ids: readonly string[], text: string, most: number): string[] {
  const wanted = text.toLowerCase();
  const rank = (id: string) => {
    const own = id.toLowerCase();
    return own === wanted ? 0 : own.startsWith(wanted) ? 1 : 2;
  };
  return ids.toSorted((a, b) => rank(a) - rank(b)).slice(0, most);
}
