/** The wizard fields for variants and metrics. */
import { Plus, X } from "lucide-react";
import { formatPercent } from "@/lib/format";
import { useSignalNames } from "@/lib/queries";
import { Button } from "@/ui/Button";
import { Field, Input, Select, TextArea, TextField } from "@/ui/Field";
import {
  type Contents,
  type DraftExperiment,
  type DraftMetric,
  type DraftVariant,
  readConfig,
} from "./draft";
import { metricLabel, TRACE_METRIC_NAMES } from "./labels";

interface Props {
  draft: DraftExperiment;
  onChange: (changes: Partial<DraftExperiment>) => void;
}

const MAX_VARIANTS = 10;

function replaceAt<T>(list: T[], index: number, changes: Partial<T>): T[] {
  return list.map((item, at) => (at === index ? { ...item, ...changes } : item));
}

const CONTENTS = [
  { value: "prompt", label: "A prompt" },
  { value: "json", label: "A JSON object" },
  { value: "none", label: "Variant key only" },
];

export function VariantFields({ draft, onChange }: Props) {
  return (
    <>
      <Field label="Variant payload" hint="The first variant is the control.">
        {(props) => (
          <Select
            {...props}
            value={draft.contents}
            onChange={(value) => onChange({ contents: value as Contents })}
            options={CONTENTS}
          />
        )}
      </Field>
      {draft.variants.map((_, index) => (
        <OneVariant key={index} index={index} draft={draft} onChange={onChange} />
      ))}
      <div>
        <Button
          icon={<Plus className="size-4" />}
          disabled={draft.variants.length >= MAX_VARIANTS}
          onClick={() =>
            onChange({
              variants: [
                ...draft.variants,
                { key: `variant-${draft.variants.length}`, name: "", weight: 1, config: "" },
              ],
            })
          }
        >
          Add a variant
        </Button>
      </div>
    </>
  );
}

function OneVariant({ index, draft, onChange }: Props & { index: number }) {
  const variant = draft.variants[index] as DraftVariant;
  const set = (changes: Partial<DraftVariant>) =>
    onChange({ variants: replaceAt(draft.variants, index, changes) });
  const total = draft.variants.reduce((sum, one) => sum + one.weight, 0);
  return (
    <fieldset className="flex flex-col gap-3 rounded-md border p-3">
      <legend className="px-1 text-sm text-muted">
        Variant {index + 1}
        {index === 0 && ", the control"}
      </legend>
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-32 flex-1">
          <TextField label="Key" value={variant.key} onChange={(key) => set({ key })} />
        </div>
        <div className="min-w-32 flex-1">
          <TextField
            label="Label"
            value={variant.name}
            placeholder={variant.key}
            maxLength={200}
            onChange={(name) => set({ name })}
          />
        </div>
        <div className="w-28">
          <Field label={`Weight (${formatPercent(total ? variant.weight / total : 0)})`}>
            {(props) => (
              <Input
                {...props}
                type="number"
                min={0}
                step="any"
                value={variant.weight}
                onChange={(event) => set({ weight: event.target.valueAsNumber || 0 })}
              />
            )}
          </Field>
        </div>
        <Button
          kind="quiet"
          aria-label={`Remove variant ${index + 1}`}
          disabled={draft.variants.length <= 2}
          icon={<X className="size-4" />}
          onClick={() => onChange({ variants: draft.variants.filter((_, at) => at !== index) })}
        />
      </div>
      {draft.contents !== "none" && (
        <Field label={draft.contents === "prompt" ? "Prompt" : "JSON"}>
          {(props) => (
            <TextArea
              {...props}
              rows={6}
              className="font-mono text-sm"
              aria-invalid={readConfig(draft.contents, variant.config) === null}
              value={variant.config}
              onChange={(event) => set({ config: event.target.value })}
            />
          )}
        </Field>
      )}
    </fieldset>
  );
}

export function MetricFields({ draft, onChange }: Props) {
  const signals = useSignalNames();
  const set = (index: number, changes: Partial<DraftMetric>) =>
    onChange({ metrics: replaceAt(draft.metrics, index, changes) });
  const options = [
    ...TRACE_METRIC_NAMES.map((value) => ({
      value,
      label: metricLabel({ metric: value, signalName: null }),
    })),
    ...signals.map((name) => ({ value: `signal:${name}`, label: `Signal ${name}` })),
  ];
  return (
    <>
      <p className="text-muted">
        The first metric is the primary one. The others are guardrails: a variant that is
        significantly worse in one of them is not recommended.
      </p>
      {draft.metrics.map((metric, index) => (
        <div key={index} className="flex flex-wrap items-center gap-2">
          <span className="w-20 shrink-0 text-sm text-muted max-sm:w-full">
            {index === 0 ? "primary" : "guardrail"}
          </span>
          <Select
            aria-label={`Metric ${index + 1}`}
            className="min-w-0 max-w-none flex-1 max-sm:min-w-full"
            value={metric.what}
            // The key names what is measured.
            onChange={(what) => set(index, { what, key: undefined })}
            options={options}
          />
          <Select
            aria-label={`Direction of metric ${index + 1}`}
            value={metric.direction}
            onChange={(value) => set(index, { direction: value as DraftMetric["direction"] })}
            options={[
              { value: "increase", label: "higher is better" },
              { value: "decrease", label: "lower is better" },
            ]}
          />
          <Button
            kind="quiet"
            aria-label={`Remove metric ${index + 1}`}
            disabled={draft.metrics.length <= 1}
            icon={<X className="size-4" />}
            onClick={() => onChange({ metrics: draft.metrics.filter((_, at) => at !== index) })}
          />
        </div>
      ))}
      <div>
        <Button
          icon={<Plus className="size-4" />}
          onClick={() =>
            onChange({ metrics: [...draft.metrics, { what: "tokens", direction: "decrease" }] })
          }
        >
          Add a metric
        </Button>
      </div>
    </>
  );
}
