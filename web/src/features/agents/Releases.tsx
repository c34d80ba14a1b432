/** The releases of one agent by the versions that its traces name. */
import { Link } from "@tanstack/react-router";
import type { Agent } from "@/lib/api";
import { formatCost, formatCount, formatDuration, formatPercent } from "@/lib/format";
import { type Group, numberOf, pageConditions, useGroups } from "@/lib/groups";
import { useUrl } from "@/lib/url";
import { Panel } from "@/ui/Panel";
import { QueryResult } from "@/ui/states";
import { WhenSeen } from "@/ui/WhenSeen";

const HEIGHT = 120;
const MAX_RELEASES = 8;

/** Which version is better; the page Changes says whether the difference is chance. */
export function Releases({ agent }: { agent: Agent }) {
  return (
    <Panel
      title="Releases"
      unit="by service version"
      className="lg:col-span-2"
      actions={
        <Link
          to="/changes"
          search={{ agent: agent.name, by: "serviceVersion" }}
          className="text-sm text-accent hover:underline"
        >
          Compare
        </Link>
      }
    >
      <WhenSeen height={HEIGHT}>
        <ReleaseTable agent={agent} />
      </WhenSeen>
    </Panel>
  );
}

function ReleaseTable({ agent }: { agent: Agent }) {
  const query = useGroups({
    measures: ["count", "errorRate", "p95", "cost"],
    groupBy: ["serviceVersion"],
    filters: pageConditions({ ...useUrl(), agent: agent.name }),
    limit: MAX_RELEASES,
  });
  return (
    <QueryResult query={query} height={HEIGHT}>
      {({ rows, total }) =>
        rows.length === 0 ? (
          <p className="py-6 text-center text-muted">No traces in this period</p>
        ) : rows.every((row) => row.serviceVersion === null) ? (
          <p className="py-6 text-center text-muted">
            No traces in this period report a service version. Set <code>service.version</code> to
            compare releases.
          </p>
        ) : (
          <ReleaseRows rows={rows} total={total} />
        )
      }
    </QueryResult>
  );
}

export function ReleaseRows({ rows, total }: { rows: Group[]; total: number }) {
  return (
    <>
      <table className="w-full">
        <thead className="text-left text-sm text-muted">
          <tr className="h-8 border-b *:font-normal">
            <th>Version</th>
            <th className="text-right">Traces</th>
            <th className="text-right">Error rate</th>
            <th className="text-right">p95</th>
            <th className="text-right">Cost per trace</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const version = String(row.serviceVersion ?? "none");
            const [cost, count] = [numberOf(row, "cost"), numberOf(row, "count")];
            return (
              <tr key={version} className="h-8 border-b last:border-0">
                <td className="max-w-40 truncate" title={version}>
                  {version}
                </td>
                <td className="text-right">{formatCount(count)}</td>
                <td className="text-right">{formatPercent(numberOf(row, "errorRate"))}</td>
                <td className="text-right">{formatDuration(numberOf(row, "p95"))}</td>
                <td className="text-right">
                  {formatCost(cost !== null && count ? cost / count : null)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {total > rows.length && (
        <p className="mt-2 text-sm text-muted">
          The {formatCount(rows.length)} versions with the most traces, of {formatCount(total)}
        </p>
      )}
    </>
  );
}
