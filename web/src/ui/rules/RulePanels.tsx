/** The parts of the rule editor besides the form: the list, who is notified, and new secrets. */
import { type AlertRule, describeRule, severityTone } from "@/lib/alerts";
import { ApiError, type Schemas } from "@/lib/api";
import { Badge } from "../Badge";
import { CodeBlock } from "../CodeBlock";
import { cx } from "../cx";
import { Dialog } from "../Dialog";
import { Field, Input } from "../Field";
import { Panel } from "../Panel";
import { Channels } from "./Channels";
import { type Draft, splitAddresses } from "./ruleDraft";
import { WithTest } from "./WithTest";

export function RuleList({
  rules,
  index,
  onPick,
}: {
  rules: AlertRule[];
  index: number;
  onPick: (at: number) => void;
}) {
  return (
    <ul aria-label="Rules" className="overflow-hidden rounded-lg border bg-surface">
      {rules.map((rule, at) => (
        <li key={rule.id ?? `new-${at}`} className="border-b last:border-0">
          <button
            type="button"
            aria-current={at === index}
            onClick={() => onPick(at)}
            className={cx(
              "w-full px-3.5 py-2.5 text-left",
              at === index ? "bg-accent-soft" : "hover:bg-hover",
            )}
          >
            <span className="flex items-center gap-2">
              <span className="min-w-0 flex-1 truncate font-medium">{rule.name || "Rule"}</span>
              {!rule.enabled && <Badge>off</Badge>}
              <Badge tone={severityTone(rule.severity)}>{rule.severity}</Badge>
            </span>
            <span className="mt-0.5 block text-sm text-muted">{describeRule(rule)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Notify({
  agentId,
  draft,
  onChange,
  error,
}: {
  agentId: string | null;
  draft: Draft;
  onChange: (draft: Draft) => void;
  error: Error | null;
}) {
  const about = (field: string) =>
    error instanceof ApiError
      ? error.details.find((one) => one.field.startsWith(`notify.${field}`))?.message
      : undefined;
  return (
    <Panel title="Notify">
      <div className="flex flex-col gap-3">
        <Field label="E-mail" hint="Separate addresses with commas" error={about("emails")}>
          {(props) => (
            <WithTest
              agentId={agentId}
              label="e-mail"
              receivers={splitAddresses(draft.emails).map((email) => ({ type: "mail", email }))}
            >
              <Input
                {...props}
                value={draft.emails}
                placeholder="oncall@example.com"
                onChange={(event) => onChange({ ...draft, emails: event.target.value })}
              />
            </WithTest>
          )}
        </Field>
        <Field label="Webhooks" hint="Separate addresses with commas" error={about("webhooks")}>
          {(props) => (
            <WithTest
              agentId={agentId}
              label="webhooks"
              receivers={splitAddresses(draft.webhooks).map((url) => ({ type: "webhook", url }))}
            >
              <Input
                {...props}
                value={draft.webhooks}
                placeholder="https://hooks.example.com/…"
                onChange={(event) => onChange({ ...draft, webhooks: event.target.value })}
              />
            </WithTest>
          )}
        </Field>
        <Channels
          agentId={agentId}
          channels={draft.channels}
          onChange={(channels) => onChange({ ...draft, channels })}
          error={about("channels")}
        />
      </div>
    </Panel>
  );
}

export function Secrets({
  secrets,
  onClose,
}: {
  secrets: Schemas["NotifyWebhook"][];
  onClose: () => void;
}) {
  return (
    <Dialog isOpen={secrets.length > 0} onClose={onClose} title="Signing secrets">
      <p className="mb-3 text-muted">
        Messages are signed according to Standard Webhooks. Copy the secret now; it is not shown
        again.
      </p>
      {secrets.map((one) => (
        <div key={one.url} className="mb-3">
          <p className="mb-1 truncate font-medium">{one.url}</p>
          <CodeBlock code={one.secret ?? ""} label={`Secret of ${one.url}`} />
        </div>
      ))}
    </Dialog>
  );
}
