/** The rule editor: the list on the left, and the backtest of the chosen rule. */
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { AlertRule } from "@/lib/alerts";
import { ApiError, type Schemas } from "@/lib/api";
import { useCan } from "@/lib/roles";
import { useUnsaved } from "@/lib/unsaved";
import { useUrlState } from "@/lib/url";
import type { Crumb } from "../Breadcrumb";
import { Checkbox } from "../Field";
import { PageBody, Panel } from "../Panel";
import { RoleButton } from "../RoleButton";
import { EmptyState } from "../states";
import { RuleBacktest } from "./RuleBacktest";
import { RuleForm } from "./RuleForm";
import { Notify, RuleList, Secrets } from "./RulePanels";
import {
  draftOf,
  findLinkedRule,
  NEW_RULE,
  NEW_RULES,
  type Settings,
  useSaveRules,
} from "./ruleDraft";

interface Props {
  /** Without an agent, the rules are those of the workspace. */
  agentId: string | null;
  settings: Settings;
  title: string;
  crumbs: readonly Crumb[];
}

export function RuleEditor({ agentId, settings, title, crumbs }: Props) {
  const [chosen, setChosen] = useUrlState("rule", "0");
  // What was saved here counts before it is read again.
  const [saved, setSaved] = useState(() => draftOf(settings));
  const [draft, setDraft] = useState(() => {
    const added = NEW_RULES[chosen];
    return added && findLinkedRule(saved.rules, chosen) === undefined
      ? { ...saved, rules: [...saved.rules, { ...added }] }
      : saved;
  });
  const isNew = chosen in NEW_RULES;
  const isEditor = useCan()("editor");
  const [secrets, setSecrets] = useState<Schemas["NotifyWebhook"][]>([]);
  const known = new Set(settings.notify.webhooks.map((one) => one.url));
  const save = useSaveRules(agentId, (answer) => {
    setSaved(draftOf(answer));
    setDraft(draftOf(answer));
    if (isNew) setChosen(String(index));
    setSecrets(answer.notify.webhooks.filter((one) => one.secret && !known.has(one.url)));
  });
  const index = isNew
    ? (findLinkedRule(draft.rules, chosen) ?? draft.rules.length - 1)
    : Math.max(
        0,
        draft.rules.findIndex((rule, at) => rule.id === chosen || String(at) === chosen),
      );
  const rule = draft.rules[index];
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  useUnsaved(isChanged);
  const setRules = (rules: AlertRule[]) => setDraft({ ...draft, rules });
  const add = () => {
    setRules([...draft.rules, { ...NEW_RULE }]);
    setChosen(String(draft.rules.length));
  };
  const problem = (field: string) =>
    save.error instanceof ApiError ? save.error.about(`rules.${index}.${field}`) : undefined;
  return (
    <PageBody
      title={title}
      crumbs={crumbs}
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
      {agentId === null && (
        <p className="-mt-2 mb-3 text-muted">
          A rule here measures the traces of all agents together. To watch one agent, add a rule to
          it.
        </p>
      )}
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
          A rule raises an alert when errors, latency, cost, traffic, a signal or any query cross a
          threshold. Before you save it, you see how often it would have fired in the last 14 days.
        </EmptyState>
      ) : (
        <div className="grid items-start gap-3 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <div className="flex flex-col gap-3">
            <RuleList rules={draft.rules} index={index} onPick={(at) => setChosen(String(at))} />
            <fieldset disabled={!isEditor} className="min-w-0">
              <Notify agentId={agentId} draft={draft} onChange={setDraft} error={save.error} />
            </fieldset>
          </div>
          <div className="flex min-w-0 flex-col gap-3">
            <RuleBacktest key={rule.id ?? index} agentId={agentId} rule={rule} />
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
