/** The search in a trace: its text in the URL, and the spans that match it. */
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useMemo, useState } from "react";
import { api, unwrap } from "@/lib/api";
import { useSetUrl, useUrl } from "@/lib/url";
import { isTruncated } from "./content";
import { findMatches, wordsOf } from "./search";
import { type Tree, visibleNodes } from "./tree";

const PAUSE_MS = 250;

export function useTraceSearch(tree: Tree, traceId: string) {
  const { find = "" } = useUrl();
  const setUrl = useSetUrl();
  const [text, setText] = useState(find);
  // The URL follows when typing pauses.
  useEffect(() => {
    if (text === find) return;
    const timer = setTimeout(() => setUrl({ find: text || undefined }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, find, setUrl]);
  const nodes = useMemo(() => visibleNodes(tree.roots, new Set()), [tree]);
  const isCut = useMemo(() => nodes.some(({ span }) => isTruncated(span)), [nodes]);
  const longMatches = useLongMatches(traceId, find, isCut && text === find);
  const searched = useDeferredValue(text);
  const matches = useMemo(
    () => findMatches(nodes, searched, longMatches),
    [nodes, searched, longMatches],
  );
  const found = useMemo(() => new Set(matches), [matches]);
  return { text, onChange: setText, nodes, matches, found };
}

const NONE: ReadonlySet<string> = new Set();

/** The matches of the service, which has all of the contents that the trace shows truncated. */
function useLongMatches(traceId: string, search: string, isWanted: boolean): ReadonlySet<string> {
  const isOn = isWanted && wordsOf(search).length > 0;
  const { data } = useQuery({
    queryKey: ["trace-matches", traceId, search],
    queryFn: () =>
      unwrap(
        api.GET("/api/spans/traces/{traceId}/matches", {
          params: { path: { traceId }, query: { search } },
        }),
      ),
    enabled: isOn,
    staleTime: 60_000,
  });
  return useMemo(() => (isOn && data ? new Set(data.spanIds) : NONE), [isOn, data]);
}
