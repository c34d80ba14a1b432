import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, unwrap } from "@/lib/api";
import { formatCost, formatDuration } from "@/lib/format";
import { Badge } from "@/ui/Badge";
import { Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";

/** Traces of the window in which an alert fired; those deleted since are left out. */
export function ExampleTraces({ ids }: { ids: string[] }) {
  const traces = useQueries({
    queries: ids.map((traceId) => ({
      queryKey: ["traces", "one", traceId],
      queryFn: () =>
        unwrap(api.GET("/api/spans/traces/{traceId}", { params: { path: { traceId } } })),
      staleTime: 300_000,
      retry: false,
    })),
  });
  if (ids.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1 font-medium">
        Example traces <span className="font-normal text-muted">when it fired</span>
      </h3>
      <ul className="flex flex-col">
        {traces.map(({ data, isPending }, index) => (
          <li key={ids[index]} className="border-b last:border-0 empty:hidden">
            {isPending && <Skeleton className="my-1 h-7" />}
            {data && (
              <Link
                to="/traces/$traceId"
                params={{ traceId: data.traceId }}
                className="flex min-h-9 items-center gap-3 hover:bg-hover"
              >
                <Badge tone={data.status === "error" ? "bad" : "good"}>{data.status}</Badge>
                <span className="min-w-0 flex-1 truncate text-accent">{data.name}</span>
                <span className="text-sm text-muted max-sm:hidden">{formatCost(data.cost)}</span>
                <span className="text-sm text-muted">{formatDuration(data.durationMs)}</span>
                <span className="text-sm text-muted">
                  <Time at={data.startTime} as="precise" />
                </span>
              </Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
