/** What wakes somebody: rules on the left, the last two weeks as each would have seen them. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { type AlertRule, describeRule, severityTone } from "@/lib/alerts";
import { type Agent, ApiError, api, type Schemas, unwrap } from "@/lib/api";
import { useUrlState } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CodeBlock } from "@/ui/CodeBlock";
import { cx } from "@/ui/cx";
import { Dialog } from "@/ui/Dialog";
import { Checkbox, Field, Input } from "@/ui/Field";
import { PageBody, Panel } from "@/ui/Panel";
import { EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { toast } from "@/ui/Toast";
import { useAgent } from "./AgentPage";
import { Preview } from "./Preview";
import { RuleForm } from "./RuleForm";

const FRESH: AlertRule = {
  name: "Errors",
  metric: "errorRate",
  condition: "above",
  threshold: 0.05,
  windowMinutes: 15,
  forMinutes: 0,
  minSamples: 10,
  severity: "warning",
};

export default function RulesPage() {
  const { data: agent, error, refetch } = useAgent();
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!agent) {
    return (
      <PageBody title="Alert rules">
        <Skeleton className="h-96" />
      </PageBody>
    );
  }
  return <Editor key={agent.id} agent={agent} />;
}

interface Draft {
  enabled: boolean;
  rules: AlertRule[];
  emails: string;
  webhooks: string;
}

function draftOf(settings: Agent["alertSettings"]): Draft {
  return {
    enabled: settings.enabled,
    rules: settings.rules as AlertRule[],
    emails: settings.notify.emails.join(", "),
    webhooks: settings.notify.webhooks.map((one) => one.url).join(", "),
  };
}

function split(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter(Boolean);
}

function useSave(agent: Agent, onSaved: (agent: Agent) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (draft: Draft) =>
      unwrap(
        api.PUT("/api/agents/{agentId}/alerts", {
          params: { path: { agentId: agent.id } },
          body: {
            enabled: draft.enabled,
            rules: draft.rules,
            notify: {
              emails: split(draft.emails),
              webhooks: split(draft.webhooks).map((url) => ({ url })),
            },
          },
        }),
      ),
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["agents"] });
      toast("Saved. The rules are in force from the next minute on.", "good");
      onSaved(saved);
    },
  });
}

function Editor({ agent }: { agent: Agent }) {
  const [draft, setDraft] = useState(() => draftOf(agent.alertSettings));
  const [chosen, setChosen] = useUrlState("rule", "0");
  const [secrets, setSecrets] = useState<Schemas["NotifyWebhook"][]>([]);
  const known = new Set(agent.alertSettings.notify.webhooks.map((one) => one.url));
  const save = useSave(agent, (saved) => {
    setDraft(draftOf(saved.alertSettings));
    setSecrets(
      saved.alertSettings.notify.webhooks.filter((one) => one.secret && !known.has(one.url)),
    );
  });
  const index = Math.max(
    0,
    draft.rules.findIndex((rule, at) => rule.id === chosen || String(at) === chosen),
  );
  const rule = draft.rules[index];
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(agent.alertSettings));
  useWarning(isChanged);
  const setRules = (rules: AlertRule[]) => setDraft({ ...draft, rules });
  const add = () => {
    setRules([...draft.rules, { ...FRESH }]);
    setChosen(String(draft.rules.length));
  };
  const problem = (field: string) =>
    save.error instanceof ApiError ? save.error.about(`rules.${index}.${field}`) : undefined;
  return (
    <PageBody
      title={
        <>
          <Link
            to="/agents/$agentId"
            params={{ agentId: agent.id } as never}
            className="text-muted hover:text-fg"
          >
            {agent.name}
          </Link>
          <span className="text-faint"> / </span>Alert rules
        </>
      }
      actions={
        <>
          <Checkbox
            label="Watching"
            checked={draft.enabled}
            onChange={(event) => setDraft({ ...draft, enabled: event.target.checked })}
          />
          <Button onClick={add} icon={<Plus className="size-4" />}>
            Add a rule
          </Button>
          <Button
            kind="primary"
            disabled={!isChanged}
            busy={save.isPending}
            onClick={() => save.mutate(draft)}
          >
            Save
          </Button>
        </>
      }
    >
      {save.error && (
        <p role="alert" className="mb-3 rounded-md bg-bad-soft px-3 py-2 text-bad">
          {save.error.message}
        </p>
      )}
      {rule === undefined ? (
        <EmptyState
          title="Nobody is watching this agent"
          action={
            <Button kind="primary" onClick={add} icon={<Plus className="size-4" />}>
              Add a rule
            </Button>
          }
        >
          A rule raises an alert when errors, latency, cost, traffic or a signal leave their bounds.
          Before you save it, you see how often it would have fired in the last 14 days.
        </EmptyState>
      ) : (
        <div className="grid items-start gap-3 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <div className="flex flex-col gap-3">
            <RuleList rules={draft.rules} index={index} onPick={(at) => setChosen(String(at))} />
            <Notify draft={draft} onChange={setDraft} error={save.error} />
          </div>
          <div className="flex min-w-0 flex-col gap-3">
            <Preview agentId={agent.id} rule={rule} />
            <Panel
              title="Rule"
              actions={
                <Button
                  size="small"
                  kind="danger"
                  icon={<Trash2 className="size-3.5" />}
                  onClick={() => {
                    setRules(draft.rules.filter((_, at) => at !== index));
                    setChosen("0");
                  }}
                >
                  Remove
                </Button>
              }
            >
              <RuleForm
                key={index}
                rule={rule}
                problem={problem}
                onChange={(next) =>
                  setRules(draft.rules.map((one, at) => (at === index ? next : one)))
                }
              />
            </Panel>
          </div>
        </div>
      )}
      <Secrets secrets={secrets} onClose={() => setSecrets([])} />
    </PageBody>
  );
}

/** Leaving the page would lose what is not saved. */
function useWarning(isChanged: boolean) {
  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isChanged]);
}

function RuleList({
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
              <Badge tone={severityTone(rule.severity)}>{rule.severity}</Badge>
            </span>
            <span className="mt-0.5 block text-sm text-muted">{describeRule(rule)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Notify({
  draft,
  onChange,
  error,
}: {
  draft: Draft;
  onChange: (draft: Draft) => void;
  error: Error | null;
}) {
  const about = (field: string) =>
    error instanceof ApiError
      ? error.details.find((one) => one.field.startsWith(`notify.${field}`))?.message
      : undefined;
  return (
    <Panel title="Tell whom">
      <div className="flex flex-col gap-3">
        <Field label="E-mail" hint="Addresses, separated by commas" error={about("emails")}>
          {(props) => (
            <Input
              {...props}
              value={draft.emails}
              placeholder="oncall@example.com"
              onChange={(event) => onChange({ ...draft, emails: event.target.value })}
            />
          )}
        </Field>
        <Field label="Webhooks" hint="Addresses, separated by commas" error={about("webhooks")}>
          {(props) => (
            <Input
              {...props}
              value={draft.webhooks}
              placeholder="https://hooks.example.com/…"
              onChange={(event) => onChange({ ...draft, webhooks: event.target.value })}
            />
          )}
        </Field>
      </div>
    </Panel>
  );
}

function Secrets({
  secrets,
  onClose,
}: {
  secrets: Schemas["NotifyWebhook"][];
  onClose: () => void;
}) {
  return (
    <Dialog isOpen={secrets.length > 0} onClose={onClose} title="Signing secrets, shown once">
      <p className="mb-3 text-muted">
        Messages are signed as Standard Webhooks says. Copy the secret now; it is not shown again.
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
