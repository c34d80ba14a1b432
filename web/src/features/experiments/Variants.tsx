/** The variants of an experiment: their share of the units, and what the application gets. */
import { formatPercent } from "@/lib/format";
import { Badge } from "@/ui/Badge";
import { Panel } from "@/ui/Panel";
import { readPrompt } from "./draft";
import type { Experiment } from "./labels";

export function Variants({ experiment }: { experiment: Experiment }) {
  const total = experiment.variants.reduce((sum, variant) => sum + variant.weight, 0);
  return (
    <Panel title="Variants">
      <ul>
        {experiment.variants.map(({ key, name, weight, config }, index) => (
          <li key={key} className="border-b py-2 last:border-0">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <span className="min-w-0 truncate font-medium">{name}</span>
              {name !== key && <code className="font-mono text-sm text-muted">{key}</code>}
              {index === 0 && <Badge>control</Badge>}
              {experiment.winner === key && <Badge tone="good">winner</Badge>}
              <span className="ml-auto">{formatPercent(weight / total)}</span>
            </div>
            <Config config={config} label={`What ${name} gets`} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** A prompt as text, other values as JSON. */
function Config({ config, label }: { config: Record<string, unknown>; label: string }) {
  if (Object.keys(config).length === 0) return null;
  const prompt = readPrompt(config);
  return (
    <pre
      role="region"
      aria-label={label}
      tabIndex={0}
      className={
        "mt-1.5 max-h-64 overflow-auto rounded-md bg-raised px-3 py-2 text-sm whitespace-pre-wrap " +
        `[overflow-wrap:anywhere] ${prompt === null ? "font-mono" : "font-sans"}`
      }
    >
      {prompt ?? JSON.stringify(config, null, 2)}
    </pre>
  );
}
