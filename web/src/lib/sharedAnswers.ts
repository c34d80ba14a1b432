/**
 * Shares refreshed answers between the tabs of a browser, so that several tabs of a page ask as
 * often as one. First loads are not shared: another tab rarely has the same question open.
 */
import type { Query, QueryClient } from "@tanstack/react-query";
import type { User } from "./api";
import { workspace } from "./workspace";

interface SharedAnswer {
  person: string | undefined;
  workspaceId: string | null;
  queryHash: string;
  data: unknown;
  askedAt: number;
}

/** Announces answers on the channel, and takes those of other tabs from it. */
export function shareAnswers(queries: QueryClient, channel: BroadcastChannel) {
  const cache = queries.getQueryCache();
  const askedAt = new WeakMap<Query, number>();
  const whose = () => ({
    person: queries.getQueryData<User>(["profile"])?.id,
    workspaceId: workspace.id(),
  });

  cache.subscribe((event) => {
    if (event.type !== "updated") return;
    const { query, action } = event;
    if (action.type === "fetch") askedAt.set(query as Query, Date.now());
    // What is set by hand, such as the answer of another tab, was announced already.
    if (action.type !== "success" || action.manual || query.state.dataUpdateCount < 2) return;
    const { queryHash } = query;
    const { data } = query.state;
    const asked = askedAt.get(query as Query) ?? 0;
    channel.postMessage({ ...whose(), queryHash, data, askedAt: asked } satisfies SharedAnswer);
  });

  channel.onmessage = ({ data: answer }: MessageEvent<SharedAnswer>) => {
    const { person, workspaceId } = whose();
    const isOurs = person && answer.person === person && answer.workspaceId === workspaceId;
    const query = isOurs ? cache.get(answer.queryHash) : undefined;
    // Something may have been changed here after the other tab asked.
    if (!query || query.state.isInvalidated || query.state.fetchStatus === "fetching") return;
    if (query.state.dataUpdatedAt >= answer.askedAt) return;
    queries.setQueryData(query.queryKey, answer.data, { updatedAt: answer.askedAt });
  };
}
