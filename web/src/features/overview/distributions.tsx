/** Distributions over the whole period: latency buckets, models, error types, tools. */

import { Link, useNavigate } from "@tanstack/react-router";
import { colourOf } from "@/lib/colours";
import { type Condition, writeConditions } from "@/lib/conditions";
import {
  formatCompact,
  formatCount,
  formatCounted,
  formatDuration,
  formatPercent,
} from "@/lib/format";
import { ERRORS_BY_TYPE, TOOLS_BY_AGENT } from "@/lib/overviewPanels";
import { SERIES } from "@/lib/series";
import { useUrl } from "@/lib/url";
import { Dot } from "@/ui/Badge";
import { BarList } from "@/ui/BarList";
import { Panel } from "@/ui/Panel";
import { QueryResult } from "@/ui/states";
import { WhenSeen } from "@/ui/WhenSeen";
import { ExploreLink } from "./ExploreLink";
import { useErrors, useLatencies, useTools } from "./queries";

export const HEIGHT = 200;

/** Opens the traces behind a bar, in the same time range. */
export function useTraces() {
  const navigate = useNavigate();
  const { range, from, to, env, agent } = useUrl();
  return (...conditions: Condition[]) => {
    const filters = writeConditions(conditions);
    void navigate({ to: "/traces", search: { range, from, to, env, agent, filters } });
  };
}

function bucketLabel({ minMs, maxMs }: { minMs: number; maxMs: number | null }): string {
  const show = (ms: number) => formatDuration(ms).replace(".00", "");
  if (maxMs === null) return `${show(minMs)} or more`;
  return minMs === 0 ? `under ${show(maxMs)}` : `${show(minMs)} – ${show(maxMs)}`;
}

export function LatencyShares() {
  const open = useTraces();
  return (
    <Panel title="Latency distribution" unit="traces">
      <QueryResult query={useLatencies()} height={HEIGHT}>
        {(buckets) => (
          <BarList
            bars={buckets.map((bucket) => ({
              key: bucket.bucket,
              label: bucketLabel(bucket),
              value: bucket.count,
              shown: formatCount(bucket.count),
              note: formatPercent(bucket.percentage / 100),
              colour: SERIES.p95.colour,
              onClick: () =>
                open(
                  { field: "durationMs", op: "gte", value: bucket.minMs },
                  ...(bucket.maxMs === null
                    ? []
                    : [{ field: "durationMs", op: "lt", value: bucket.maxMs } as const]),
                ),
            }))}
          />
        )}
      </QueryResult>
    </Panel>
  );
}

export function ErrorShares() {
  const open = useTraces();
  return (
    <Panel
      title="Errors by type"
      unit="failed traces"
      actions={<ExploreLink panel={ERRORS_BY_TYPE} />}
    >
      <QueryResult query={useErrors()} height={HEIGHT}>
        {({ errors }) => (
          <>
            <BarList
              empty="No failed traces in this period"
              bars={errors.map((error) => ({
                key: error.type,
                label: error.type.replace("_", " "),
                value: error.count,
                shown: formatCount(error.count),
                note: formatPercent(error.percentage / 100),
                colour: SERIES.errors.colour,
                onClick: () =>
                  open(
                    { field: "status", op: "eq", value: "error" },
                    { field: "errorType", op: "eq", value: error.type },
                  ),
              }))}
            />
            {errors.some((error) => error.type === "other") && <ExceptionsLink />}
          </>
        )}
      </QueryResult>
    </Panel>
  );
}

/** Errors that fit no type have the names of their exceptions on the page Failures. */
function ExceptionsLink() {
  return (
    <p className="mt-1 text-sm">
      <Link to="/failures" className="text-accent hover:underline">
        Exceptions in “other”
      </Link>
    </p>
  );
}

const MAX_TOOLS = 12;
const MAX_AGENTS = 10;
const MAP_HEIGHT = 120;

/** Tool calls per agent; a deeper colour means more calls. */
export function ToolMap() {
  return (
    <Panel
      title="Tools"
      unit="calls by agent"
      className="col-span-full"
      actions={<ExploreLink panel={TOOLS_BY_AGENT} />}
    >
      <WhenSeen height={MAP_HEIGHT}>
        <LoadedMap />
      </WhenSeen>
    </Panel>
  );
}

function LoadedMap() {
  return (
    <QueryResult query={useTools()} height={MAP_HEIGHT}>
      {({ heatmap }) => <HeatMap heatmap={heatmap} />}
    </QueryResult>
  );
}

function HeatMap({ heatmap }: { heatmap: Record<string, Record<string, number>> }) {
  const open = useTraces();
  const totals = new Map<string, number>();
  for (const ofAgent of Object.values(heatmap)) {
    for (const [tool, count] of Object.entries(ofAgent))
      totals.set(tool, (totals.get(tool) ?? 0) + count);
  }
  const byCount = [...totals].sort((a, b) => b[1] - a[1]).map(([tool]) => tool);
  const tools = byCount.slice(0, MAX_TOOLS);
  const calls = (agent: string, tool: string) => heatmap[agent]?.[tool] ?? 0;
  const agents = Object.keys(heatmap)
    .filter((agent) => tools.some((tool) => calls(agent, tool) > 0))
    .slice(0, MAX_AGENTS);
  if (tools.length === 0)
    return <p className="py-10 text-center text-muted">No tool calls in this period</p>;
  const most = Math.max(...agents.flatMap((agent) => tools.map((tool) => calls(agent, tool))));
  return (
    <div className="overflow-x-auto">
      <table className="w-full min-w-[56rem] table-fixed border-separate border-spacing-0.5 text-sm">
        <thead>
          <tr>
            <th className="w-40">
              <span className="sr-only">Agent</span>
            </th>
            {tools.map((tool) => (
              <th
                key={tool}
                scope="col"
                className="max-w-24 truncate px-1 pb-1 text-left font-normal text-muted"
                title={tool}
              >
                {tool}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <tr key={agent}>
              <th
                scope="row"
                className="max-w-44 truncate pr-3 text-left font-normal whitespace-nowrap"
              >
                <span className="inline-flex items-center gap-1.5">
                  <Dot colour={colourOf("agent", agent)} />
                  {agent}
                </span>
              </th>
              {tools.map((tool) => (
                <HeatCell
                  key={tool}
                  count={calls(agent, tool)}
                  most={most}
                  label={`${agent}, ${tool}`}
                  onOpen={() =>
                    open(
                      { field: "agent", op: "eq", value: agent },
                      { field: "tool", op: "eq", value: tool },
                    )
                  }
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {byCount.length > tools.length && (
        <p className="mt-1 text-sm text-muted">
          and {formatCounted(byCount.length - tools.length, "tool")} with fewer calls
        </p>
      )}
    </div>
  );
}

interface CellProps {
  count: number;
  most: number;
  label: string;
  onOpen: () => void;
}

function HeatCell({ count, most, label, onOpen }: CellProps) {
  if (count === 0) return <td className="h-8 rounded bg-raised opacity-50" aria-label="none" />;
  // The square root keeps small counts apart, and the range keeps the text readable.
  const depth = Math.round(8 + 34 * Math.sqrt(count / most));
  return (
    <td className="p-0">
      <button
        type="button"
        title={`${label}: ${formatCounted(count, "call")}`}
        onClick={onOpen}
        className="h-8 w-full rounded px-1.5 text-left hover:outline-2 hover:outline-accent"
        style={{ background: `color-mix(in srgb, var(--accent) ${depth}%, var(--surface))` }}
      >
        {formatCompact(count)}
      </button>
    </td>
  );
}
