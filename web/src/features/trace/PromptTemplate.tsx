/** The prompt template of a span with its variables marked, and their values. */
import type { Span } from "@/lib/api";
import { Badge } from "@/ui/Badge";
import { JsonView } from "@/ui/JsonView";
import { findPrompt, splitTemplate } from "./prompts";

export function PromptTemplate({ span }: { span: Span }) {
  const prompt = findPrompt(span);
  if (!prompt) return null;
  const { name, version, template, variables } = prompt;
  return (
    <section aria-label="Prompt template">
      <h3 className="mb-1.5 flex items-center gap-2 text-sm text-muted">
        Prompt template
        {name && <span className="font-medium text-fg">{name}</span>}
        {version && <Badge>version {version}</Badge>}
      </h3>
      <div className="rounded-md border bg-surface">
        {template !== undefined && (
          <p className="p-3 [overflow-wrap:anywhere] whitespace-pre-wrap">
            {splitTemplate(template, variables).map(({ text, variable }, index) =>
              variable === undefined ? (
                text
              ) : (
                <mark
                  key={index}
                  title={titleOf(variables[variable])}
                  className="rounded bg-accent-soft px-0.5 font-mono text-sm text-accent"
                >
                  {text}
                </mark>
              ),
            )}
          </p>
        )}
        <Variables variables={variables} />
      </div>
    </section>
  );
}

function titleOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 500);
}

function Variables({ variables }: { variables: Record<string, unknown> }) {
  const entries = Object.entries(variables);
  if (entries.length === 0) return null;
  return (
    <dl className="border-t">
      {entries.map(([name, value]) => (
        <div
          key={name}
          className="grid grid-cols-[minmax(6rem,30%)_1fr] gap-3 border-b px-3 py-1.5 last:border-b-0"
        >
          <dt className="truncate font-mono text-sm text-accent" title={name}>
            {name}
          </dt>
          <dd className="min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap">
            {typeof value === "string" ? value : <JsonView value={value} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
