/** The rule editor: the list on the left, and the last 14 days replayed with the chosen rule. */
import { Link } from "@tanstack/react-router";
import { Plus, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import type { AlertRule } from "@/lib/alerts";
import { type Agent, ApiError, type Schemas } from "@/lib/api";
import { useCan } from "@/lib/roles";
import { useUrlState } from "@/lib/url";
import { Checkbox } from "@/ui/Field";
import { PageBody, Panel } from "@/ui/Panel";
import { RoleButton } from "@/ui/RoleButton";
import { RuleReplay } from "@/ui/RuleReplay";
import { EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { UnsavedGuard } from "@/ui/UnsavedGuard";
import { RuleForm } from "./RuleForm";
import { Notify, RuleList, Secrets } from "./RulePanels";
import { draftOf, NEW_RULE, useSave } from "./ruleDraft";
import { useAgent } from "./useAgent";

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

function Editor({ agent }: { agent: Agent }) {
  const [draft, setDraft] = useState(() => draftOf(agent.alertSettings));
  const isEditor = useCan()("editor");
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
  const setRules = (rules: AlertRule[]) => setDraft({ ...draft, rules });
  const add = () => {
    setRules([...draft.rules, { ...NEW_RULE }]);
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
            label="Rules enabled"
            checked={draft.enabled}
            disabled={!isEditor}
            onChange={(event) => setDraft({ ...draft, enabled: event.target.checked })}
          />
          <RoleButton needs="editor" onClick={add} icon={<Plus className="size-4" />}>
            Add a rule
          </RoleButton>
          <RoleButton
            needs="editor"
            kind="primary"
            disabled={!isChanged}
            busy={save.isPending}
            onClick={() => save.mutate(draft)}
          >
            Save
          </RoleButton>
        </>
      }
    >
      <UnsavedGuard isChanged={isChanged} />
      {save.error && (
        <p role="alert" className="mb-3 rounded-md bg-bad-soft px-3 py-2 text-bad">
          {save.error.message}
        </p>
      )}
      {rule === undefined ? (
        <EmptyState
          title="No alert rules yet"
          action={
            <RoleButton
              needs="editor"
              kind="primary"
              onClick={add}
              icon={<Plus className="size-4" />}
            >
              Add a rule
            </RoleButton>
          }
        >
          A rule raises an alert when errors, latency, cost, traffic or a signal cross a threshold.
          Before you save it, you see how often it would have fired in the last 14 days.
        </EmptyState>
      ) : (
        <div className="grid items-start gap-3 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <div className="flex flex-col gap-3">
            <RuleList rules={draft.rules} index={index} onPick={(at) => setChosen(String(at))} />
            <fieldset disabled={!isEditor} className="min-w-0">
              <Notify draft={draft} onChange={setDraft} error={save.error} />
            </fieldset>
          </div>
          <div className="flex min-w-0 flex-col gap-3">
            {isEditor && <SettledReplay agentId={agent.id} rule={rule} />}
            <Panel
              title="Rule"
              actions={
                <RoleButton
                  needs="editor"
                  size="small"
                  kind="danger"
                  icon={<Trash2 className="size-3.5" />}
                  onClick={() => {
                    setRules(draft.rules.filter((_, at) => at !== index));
                    setChosen("0");
                  }}
                >
                  Remove
                </RoleButton>
              }
            >
              <fieldset disabled={!isEditor} className="min-w-0">
                <RuleForm
                  key={index}
                  rule={rule}
                  problem={problem}
                  onChange={(next) =>
                    setRules(draft.rules.map((one, at) => (at === index ? next : one)))
                  }
                />
              </fieldset>
            </Panel>
          </div>
        </div>
      )}
      <Secrets secrets={secrets} onClose={() => setSecrets([])} />
    </PageBody>
  );
}

const TYPING_MS = 500;

/** Replays a rule once nobody has typed for a moment. */
function SettledReplay({ agentId, rule }: { agentId: string; rule: AlertRule }) {
  const [settled, setSettled] = useState(rule);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(rule), TYPING_MS);
    return () => clearTimeout(timer);
  }, [rule]);
  return <RuleReplay agentId={agentId} rule={settled} />;
}
