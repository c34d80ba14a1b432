/** A language and a client, and the program that sends its first trace. */
import { useUrl, useUrlState } from "@/lib/url";
import { CodeBlock } from "@/ui/CodeBlock";
import { cx } from "@/ui/cx";
import { Tabs } from "@/ui/Tabs";
import { type Language, languages } from "./snippets";

export function SnippetPicker({ apiKey }: { apiKey: string }) {
  const all = languages(location.origin, apiKey);
  const [language, setLanguage] = useUrlState("language", "python");
  const shown = all.find((one) => one.id === language) ?? all[0];
  if (!shown) return null;
  return (
    <div className="rounded-lg border bg-surface">
      <Tabs
        label="Language"
        tabs={all.map(({ id, label }) => ({ id, label }))}
        value={shown.id}
        onChange={setLanguage}
      />
      <Clients language={shown} />
    </div>
  );
}

function Clients({ language }: { language: Language }) {
  const { with: wanted } = useUrl();
  const [, setClient] = useUrlState("with", "");
  const { snippets } = language;
  const shown = snippets.find((one) => one.id === wanted) ?? snippets[0];
  if (!shown) return null;
  return (
    <div className="flex flex-col gap-2 p-3">
      {snippets.length > 1 && (
        <fieldset className="flex flex-wrap gap-1.5">
          <legend className="sr-only">Client</legend>
          {snippets.map(({ id, label }) => (
            <button
              key={id}
              type="button"
              aria-pressed={id === shown.id}
              onClick={() => setClient(id)}
              className={cx(
                "h-7 rounded-md border px-2.5",
                id === shown.id
                  ? "border-accent bg-raised font-medium text-fg"
                  : "text-muted hover:bg-raised hover:text-fg",
              )}
            >
              {label}
            </button>
          ))}
        </fieldset>
      )}
      {shown.install && <CodeBlock code={shown.install} label="Install" />}
      <CodeBlock code={shown.code} label={shown.label} />
    </div>
  );
}
