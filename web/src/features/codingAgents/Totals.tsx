/** The totals of the period, and where each agent's cost comes from. */
import {
  formatCompact,
  formatCost,
  formatCount,
  formatCounted,
  formatDuration,
  formatPercent,
} from "@/lib/format";
import type { Report } from "./CodingAgentsPage";

interface Figure {
  label: string;
  value: string;
  note: string;
}

const NOT_SENT = "not sent";

function figures({ totals, notSent }: Report): Figure[] {
  const edits = totals.editsAccepted + totals.editsRejected;
  const sent = (name: string, value: string) => (notSent.includes(name) ? "–" : value);
  const note = (name: string, text: string) => (notSent.includes(name) ? NOT_SENT : text);
  const perSession = totals.sessions > 0 ? totals.cost / totals.sessions : undefined;
  const merged = formatCounted(totals.pullRequests, "pull request");
  return [
    {
      label: "Cost",
      value: formatCost(totals.cost),
      note: perSession === undefined ? "" : `${formatCost(perSession)} per session`,
    },
    {
      label: "Tokens",
      value: formatCompact(totals.inputTokens + totals.outputTokens),
      note: `${formatCompact(totals.outputTokens)} output`,
    },
    {
      label: "Cache hits",
      value: formatPercent(totals.cacheHitRatio),
      note: `${formatCompact(totals.cachedTokens)} of the input`,
    },
    {
      label: "Sessions",
      value: formatCount(totals.sessions),
      note: totals.people === 1 ? "1 person" : `${formatCount(totals.people)} people`,
    },
    {
      label: "Edits accepted",
      value: edits > 0 ? formatPercent(totals.editsAccepted / edits) : "–",
      note: note("edits", `of ${formatCounted(edits, "decision")}`),
    },
    {
      label: "Lines",
      value: sent("lines", `+${formatCompact(totals.linesAdded)}`),
      note: note("lines", `−${formatCompact(totals.linesRemoved)} removed`),
    },
    {
      label: "Commits",
      value: sent("commits", formatCount(totals.commits)),
      note: note("pull_requests", merged),
    },
    {
      label: "Active time",
      value: sent("active_seconds", formatDuration(totals.activeSeconds * 1000)),
      note: note("active_seconds", "of people and agents"),
    },
  ];
}

export function Totals({ report }: { report: Report }) {
  return (
    <>
      <section
        aria-label="Totals"
        className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line sm:grid-cols-4 xl:grid-cols-8"
      >
        {figures(report).map(({ label, value, note }) => (
          <div key={label} className="min-w-0 bg-surface px-3.5 py-2.5">
            <h2 className="truncate text-sm text-muted">{label}</h2>
            <p className="truncate text-xl font-semibold tracking-tight">{value}</p>
            <p className="h-4 truncate text-xs text-faint">{note}</p>
          </div>
        ))}
      </section>
      <Sources report={report} />
    </>
  );
}

const SOURCES: Record<Report["agents"][number]["source"], string> = {
  calls: "",
  metrics: "cost from metrics, since it sends no calls",
  both: "cost from calls, and from metrics for sessions without calls",
  none: "sends neither calls nor a cost metric",
};

/** Says which agents' cost is not that of their calls. */
function Sources({ report }: { report: Report }) {
  const notes = report.agents.filter((one) => SOURCES[one.source] !== "");
  if (notes.length === 0) return null;
  return (
    <p className="text-sm text-muted">
      {notes.map((one) => `${one.agent}: ${SOURCES[one.source]}`).join(" · ")}
    </p>
  );
}
