/** The parts of the rule editor besides the form: the list, who is notified, and new secrets. */
import { type AlertRule, describeRule, severityTone } from "@/lib/alerts";
import { ApiError, type Schemas } from "@/lib/api";
import { capitalize } from "@/lib/format";
import { Badge } from "../Badge";
import { CodeBlock } from "../CodeBlock";
import { cx } from "../cx";
import { Dialog } from "../Dialog";
import { Field, Input } from "../Field";
import { Panel } from "../Panel";
import { Channels } from "./Channels";
import { type Draft, splitAddresses } from "./ruleDraft";
import { type Receiver, WithTest } from "./WithTest";

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
  const about = (field: string) => {
    if (!(error instanceof ApiError)) return undefined;
    const found = error.details.find((one) => one.field.startsWith(`notify.${field}`));
    return found && capitalize(found.message);
  };
  const isNobody = !draft.emails.trim() && !draft.webhooks.trim() && draft.channels.length === 0;
  return (
    <Panel title="Notify">
      <div className="flex flex-col gap-3">
        {isNobody && (
          <p className="rounded-md bg-warning-soft px-2.5 py-1.5 text-sm">
            Nobody is notified: alerts are shown on the Alerts page only.
          </p>
        )}
        <Addresses
          label="E-mail"
          placeholder="oncall@example.com"
          agentId={agentId}
          value={draft.emails}
          toReceiver={(email) => ({ type: "mail", email })}
          onChange={(emails) => onChange({ ...draft, emails })}
          error={about("emails")}
        />
        <Addresses
          label="Webhooks"
          placeholder="https://hooks.example.com/…"
          agentId={agentId}
          value={draft.webhooks}
          toReceiver={(url) => ({ type: "webhook", url })}
          onChange={(webhooks) => onChange({ ...draft, webhooks })}
          error={about("webhooks")}
        />
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

interface AddressesProps {
  label: string;
  placeholder: string;
  agentId: string | null;
  value: string;
  toReceiver: (address: string) => Receiver;
  onChange: (value: string) => void;
  error: string | undefined;
}

function Addresses(props: AddressesProps) {
  const { label, placeholder, agentId, value, toReceiver, onChange, error } = props;
  return (
    <Field label={label} hint="Separate addresses with commas" error={error}>
      {(field) => (
        <WithTest
          agentId={agentId}
          label={label.toLowerCase()}
          receivers={splitAddresses(value).map(toReceiver)}
        >
          <Input
            {...field}
            value={value}
            placeholder={placeholder}
            onChange={(event) => onChange(event.target.value)}
          />
        </WithTest>
      )}
    </Field>
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
