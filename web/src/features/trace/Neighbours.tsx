/** Steps through the list from which the trace was opened. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, ChevronDown, ChevronUp } from "lucide-react";
import { api, unwrap } from "@/lib/api";
import { rangeQuery, useRange } from "@/lib/range";
import { useShortcuts } from "@/lib/shortcuts";
import { listQuery, readList } from "@/lib/traceFilters";
import { type Search, useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";

function useNeighbours(traceId: string, url: Search) {
  const dates = rangeQuery(useRange());
  const query = url.session ? sessionQuery(url.session) : listQuery(readList(url), dates);
  return useQuery({
    queryKey: ["neighbours", traceId, query],
    queryFn: () =>
      unwrap(
        api.GET("/api/spans/traces/{traceId}/neighbours", {
          params: { path: { traceId }, query },
        }),
      ),
    staleTime: 60_000,
    // Without an answer there is nothing to step to, which the buttons show.
    retry: false,
  });
}

/** The turns of a session, whatever the range and the filters of the page are. */
function sessionQuery(sessionId: string) {
  return { sessionId, sort: "startTime", order: "asc" } as const;
}

/** The buttons of the trace list or, if the trace was opened from there, of its session. */
export function Neighbours({ traceId }: { traceId: string }) {
  const url = useUrl();
  const { session } = url;
  const of = session ? "session" : "list";
  const { data } = useNeighbours(traceId, url);
  const navigate = useNavigate();
  const open = (id: string | null | undefined) =>
    id &&
    void navigate({
      to: `/traces/${id}`,
      search: (before: Search) => ({ ...before, span: undefined }),
    });
  useShortcuts([
    { keys: "j", what: `Next trace of the ${of}`, run: () => open(data?.next) },
    { keys: "k", what: `Previous trace of the ${of}`, run: () => open(data?.previous) },
  ]);
  return (
    <nav aria-label={`Traces of the ${of}`} className="flex items-center">
      <Link
        {...(session
          ? {
              to: "/sessions/$sessionId",
              params: { sessionId: session },
              search: { list: url.list },
            }
          : { to: "/traces", search: readList(url) })}
        aria-label={`Back to the ${of}`}
        title={`Back to the ${of}`}
        className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-fg"
      >
        <ArrowLeft className="size-3.5" aria-hidden />
      </Link>
      <Button
        kind="quiet"
        size="small"
        aria-label="Previous trace"
        title="Previous trace (k)"
        disabled={!data?.previous}
        onClick={() => open(data?.previous)}
        icon={<ChevronUp className="size-3.5" />}
      />
      <Button
        kind="quiet"
        size="small"
        aria-label="Next trace"
        title="Next trace (j)"
        disabled={!data?.next}
        onClick={() => open(data?.next)}
        icon={<ChevronDown className="size-3.5" />}
      />
    </nav>
  );
}
