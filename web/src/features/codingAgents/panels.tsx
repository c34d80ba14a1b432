/** Cost by repository, model and who pays; edits by language. */
import type { ReactNode } from "react";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost, formatCount, formatPercent } from "@/lib/format";
import { BarList } from "@/ui/BarList";
import { Panel } from "@/ui/Panel";
import type { Report } from "./CodingAgentsPage";

const SHOWN = 8;

function NotSent({ children }: { children: ReactNode }) {
  return <p className="py-4 text-sm text-muted">{children}</p>;
}

export function RepositoriesPanel({ report }: { report: Report }) {
  return (
    <Panel title="By repository" unit="USD">
      {report.notSent.includes("repository") ? (
        <NotSent>
          Not sent. Name it in the settings of the agent:{" "}
          <code className="font-mono break-all">
            OTEL_RESOURCE_ATTRIBUTES=vcs.repository.name=shop
          </code>
        </NotSent>
      ) : (
        <BarList
          bars={report.repositories.slice(0, SHOWN).map((one) => ({
            key: one.repository,
            label: <span title={one.repository}>{one.repository}</span>,
            value: one.cost,
            shown: formatCost(one.cost),
            note: formatCompact(one.inputTokens + one.outputTokens),
            colour: colourOf("repository", one.repository),
          }))}
        />
      )}
    </Panel>
  );
}

export function ModelsPanel({ report }: { report: Report }) {
  return (
    <Panel title="By model" unit="USD">
      <BarList
        bars={report.models.slice(0, SHOWN).map((one) => ({
          key: one.model,
          label: <span title={one.model}>{one.model}</span>,
          value: one.cost,
          shown: formatCost(one.cost),
          note: formatCompact(one.inputTokens + one.outputTokens),
          colour: colourOf("model", one.model),
        }))}
      />
    </Panel>
  );
}

const BILLING = {
  subscription: { label: "Subscription", colour: "var(--series-10)" },
  api: { label: "API", colour: "var(--series-14)" },
  unknown: { label: "Unknown", colour: "var(--series-other)" },
} as const;

export function BillingPanel({ report }: { report: Report }) {
  return (
    <Panel title="Subscription or API" unit="USD">
      <BarList
        bars={report.billing.map((one) => ({
          key: one.billing,
          label: BILLING[one.billing].label,
          value: one.cost,
          shown: formatCost(one.cost),
          note: formatPercent(one.share),
          colour: BILLING[one.billing].colour,
        }))}
      />
      <p className="mt-2 text-xs text-faint">
        For subscriptions, this is the list price of the tokens, not the amount paid.
      </p>
    </Panel>
  );
}

export function EditsPanel({ report }: { report: Report }) {
  return (
    <Panel title="Edits by language" unit="accepted and rejected">
      {report.notSent.includes("edits") ? (
        <NotSent>Not sent. Agents report edit decisions in their metrics.</NotSent>
      ) : (
        <ul className="flex flex-col">
          {report.edits.slice(0, SHOWN).map((one) => (
            <Edits key={one.language} edits={one} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Edits({ edits }: { edits: Report["edits"][number] }) {
  const { language, accepted, rejected } = edits;
  const share = accepted / Math.max(accepted + rejected, 1);
  return (
    <li className="relative flex h-8 items-center gap-2 px-0.5 pb-0.5">
      <span className="min-w-0 flex-1 truncate">{language}</span>
      <span className="shrink-0" title={`${accepted} accepted, ${rejected} rejected`}>
        {formatCount(accepted)} / {formatCount(rejected)}
      </span>
      <span className="w-14 shrink-0 text-right text-muted">{formatPercent(share)}</span>
      <span className="absolute inset-x-0 bottom-0.5 flex h-[3px] overflow-hidden rounded-full bg-bad">
        <span className="block h-full bg-good" style={{ width: `${share * 100}%` }} />
      </span>
    </li>
  );
}
