import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, unwrap } from "@/lib/api";
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatDuration,
  formatNumber,
} from "@/lib/format";
import { Badge } from "@/ui/Badge";
import { ErrorState, Skeleton } from "@/ui/states";

export function Stats() {
  const { data, error, refetch } = useQuery({
    queryKey: ["admin", "stats"],
    queryFn: () => unwrap(api.GET("/api/admin/stats")),
    refetchInterval: 15_000,
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="m-3.5 h-80" />;
  const { ingest, versions } = data;
  return (
    <div className="grid gap-x-10 gap-y-5 p-3.5 md:grid-cols-2">
      <Facts title="Ingest">
        <Fact name="Spans per second">{formatNumber(ingest.spansPerSecond)}</Fact>
        <Fact name="Queued">{formatBytes(ingest.waitingBytes)}</Fact>
        <Fact name="Journal backlog">{formatBytes(ingest.backlogBytes)}</Fact>
        <Fact name="State">
          <Badge tone={ingest.isStalled ? "bad" : "good"}>
            {ingest.isStalled ? "stalled" : "accepting data"}
          </Badge>
        </Fact>
      </Facts>
      <Facts title="Installation">
        <Fact name="Accounts">{formatCount(data.users)}</Fact>
        <Fact name="Uptime">{formatDuration(data.uptimeSeconds * 1000)}</Fact>
        <Fact name="Disk free">{formatBytes(data.diskFreeBytes)}</Fact>
        <Fact name="Models being repriced">{formatCount(data.repricingTasks)}</Fact>
      </Facts>
      <Facts title={`Tables, ${formatBytes(data.bytes)} in total`}>
        {data.tables
          .filter((table) => table.rows > 0)
          .map((table) => (
            <Fact key={table.table} name={table.table}>
              {formatCounted(table.rows, "row")}
              <span className="ml-3 inline-block w-16 text-right text-muted">
                {formatBytes(table.bytes)}
              </span>
            </Fact>
          ))}
      </Facts>
      <Facts title="Versions">
        {Object.entries(versions).map(([name, version]) => (
          <Fact key={name} name={name}>
            {version}
          </Fact>
        ))}
      </Facts>
    </div>
  );
}

function Facts({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="mb-1 font-medium">{title}</h2>
      <dl>{children}</dl>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-8 items-center justify-between gap-3 border-b last:border-0">
      <dt className="text-muted">{name}</dt>
      <dd className="text-right">{children}</dd>
    </div>
  );
}
