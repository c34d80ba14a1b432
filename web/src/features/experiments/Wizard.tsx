/** The four steps in which an experiment is described. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ApiError, type Schemas } from "@/lib/api";
import { formatPercent } from "@/lib/format";
import { useAgentName, useFilterValues } from "@/lib/queries";
import { useUrlState } from "@/lib/url";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { cx } from "@/ui/cx";
import { Field, Input, Select, TextArea } from "@/ui/Field";
import { RoleButton } from "@/ui/RoleButton";
import { type DraftExperiment, problemsOf, toBody } from "./draft";
import { MetricFields, VariantFields } from "./ExperimentFields";
import { metricLabel } from "./labels";
import { Planner } from "./Planner";
import type { useDraft } from "./useDraft";

const STEPS = ["Question", "Variants", "Metrics", "Review"] as const;

interface Props {
  kept: ReturnType<typeof useDraft>;
  onSubmit: (body: Schemas["NewExperiment"]) => void;
  submitLabel: string;
  isBusy: boolean;
  error: Error | null;
}

export function Wizard({ kept, onSubmit, submitLabel, isBusy, error }: Props) {
  const { draft, change: onChange } = kept;
  const [step, setStep] = useUrlState("step", "1");
  const at = Math.min(Math.max(Number(step) || 1, 1), STEPS.length) - 1;
  const problems = problemsOf(draft);
  const blocked = problems.find((problem) => problem.step <= at);
  const isLast = at === STEPS.length - 1;
  const steps = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step starts at the top
  useEffect(() => void steps.current?.closest("[data-scroller]")?.scrollTo(0, 0), [at]);
  const startOver = () => {
    kept.clear();
    setStep("1");
  };
  return (
    <>
      {kept.isOutdated && (
        <p role="alert" className="mb-3 rounded-md bg-warning-soft px-3 py-2">
          This draft was saved after you began to change it. Saving replaces that version; start
          over to see it.
        </p>
      )}
      <ol ref={steps} className="mb-4 flex gap-1" aria-label="Steps">
        {STEPS.map((name, index) => (
          <li key={name} className="flex-1">
            <button
              type="button"
              aria-current={index === at ? "step" : undefined}
              disabled={index > at && problems.some((problem) => problem.step < index)}
              onClick={() => setStep(String(index + 1))}
              className={cx(
                "w-full border-t-2 pt-1.5 text-left text-sm disabled:cursor-not-allowed",
                index <= at ? "border-accent" : "border-line-strong text-muted",
                index === at && "font-semibold",
              )}
            >
              {index + 1}. {name}
            </button>
          </li>
        ))}
      </ol>
      <form
        className="flex flex-col gap-4 rounded-lg border bg-surface p-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isLast) onSubmit(toBody(draft));
          else if (!blocked) setStep(String(at + 2));
        }}
      >
        {at === 0 && <Question draft={draft} onChange={onChange} />}
        {at === 1 && <VariantFields draft={draft} onChange={onChange} />}
        {at === 2 && <MetricFields draft={draft} onChange={onChange} />}
        {at === 2 && <Planner draft={draft} />}
        {isLast && <Review draft={draft} />}
        {error && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            {error instanceof ApiError && error.details[0]
              ? `${error.details[0].field}: ${error.details[0].message}`
              : error.message}
          </p>
        )}
        <footer className="flex flex-wrap items-center gap-2 border-t pt-3">
          {kept.isChanged && <StartOver onConfirm={startOver} />}
          <p className="mr-auto text-sm text-muted">{blocked?.words}</p>
          {at > 0 && <Button onClick={() => setStep(String(at))}>Back</Button>}
          <RoleButton
            needs="editor"
            kind="primary"
            type="submit"
            disabled={Boolean(blocked)}
            busy={isBusy}
          >
            {isLast ? submitLabel : "Next"}
          </RoleButton>
        </footer>
      </form>
    </>
  );
}

function StartOver({ onConfirm }: { onConfirm: () => void }) {
  const [isConfirming, setConfirming] = useState(false);
  return (
    <>
      <Button kind="quiet" onClick={() => setConfirming(true)}>
        Start over
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        onConfirm={() => {
          setConfirming(false);
          onConfirm();
        }}
        title="Discard your changes?"
        action="Discard"
        isBusy={false}
        isDangerous
      >
        What you entered in these steps is not saved yet.
      </ConfirmDialog>
    </>
  );
}

interface StepProps {
  draft: DraftExperiment;
  onChange: (changes: Partial<DraftExperiment>) => void;
}

function Question({ draft, onChange }: StepProps) {
  const { data } = useFilterValues();
  return (
    <>
      <Field label="Name" hint="Also the feature flag key, for example shorter-prompt">
        {(props) => (
          <Input
            {...props}
            autoFocus
            value={draft.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Hypothesis" hint="What do you expect, and why?">
        {(props) => (
          <TextArea
            {...props}
            value={draft.hypothesis}
            onChange={(event) => onChange({ hypothesis: event.target.value })}
          />
        )}
      </Field>
      <Field label="Agent" hint="Limits the experiment to traces and signals of this agent">
        {(props) => (
          <Select
            {...props}
            className="w-full max-w-none"
            value={draft.agentId}
            onChange={(agentId) => onChange({ agentId })}
            options={[
              { value: "", label: "All agents" },
              ...agentOptions(data?.agents ?? [], draft.agentId),
            ]}
          />
        )}
      </Field>
      <Field label="Traffic" hint="Percent of all units. Can be raised later, but not lowered.">
        {(props) => (
          <Input
            {...props}
            type="number"
            min={1}
            max={100}
            value={draft.trafficPercent}
            onChange={(event) => onChange({ trafficPercent: event.target.valueAsNumber || 0 })}
          />
        )}
      </Field>
    </>
  );
}

/** An experiment names its agent or has its id. */
function agentOptions(agents: Schemas["AgentRef"][], chosen: string) {
  const options = agents.map(({ id, name }) => ({
    value: id === chosen ? id : name,
    label: name,
  }));
  const isListed = chosen === "" || options.some(({ value }) => value === chosen);
  return isListed ? options : [...options, { value: chosen, label: chosen }];
}

function Review({ draft }: { draft: DraftExperiment }) {
  const body = toBody(draft);
  const agent = useAgentName(body.agentId);
  const total = draft.variants.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      <Fact name="Name">{body.name}</Fact>
      <Fact name="Hypothesis">{body.hypothesis ?? "–"}</Fact>
      <Fact name="Agent">{agent ?? "All agents"}</Fact>
      <Fact name="Traffic">{body.trafficPercent}%</Fact>
      <Fact name="Variants">
        <ul className="flex flex-col gap-1">
          {draft.variants.map(({ key, name, weight, config }) => (
            <li key={key}>
              {name || key} <span className="text-muted">{formatPercent(weight / total)}</span>
              {draft.contents !== "none" && (
                <pre className="max-h-32 overflow-auto text-sm whitespace-pre-wrap text-muted">
                  {config}
                </pre>
              )}
            </li>
          ))}
        </ul>
      </Fact>
      <Fact name="Metrics">
        {(body.metrics ?? [])
          .map(
            (metric) =>
              `${metricLabel({ metric: metric.metric ?? null, signalName: metric.signalName ?? null })} ${metric.direction === "decrease" ? "↓" : "↑"}${metric.primary ? " (primary)" : ""}`,
          )
          .join(", ")}
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
