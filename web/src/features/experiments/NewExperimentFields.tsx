/** The wizard fields for variants and metrics. */
import { Plus, X } from "lucide-react";
import { useSignalNames } from "@/lib/queries";
import { Button } from "@/ui/Button";
import { Input, Select } from "@/ui/Field";
import { type DraftExperiment, type DraftMetric, type DraftVariant, readConfig } from "./draft";
import { metricLabel, TRACE_METRIC_NAMES } from "./labels";

interface Props {
  draft: DraftExperiment;
  onChange: (changes: Partial<DraftExperiment>) => void;
}

const MAX_VARIANTS = 10;

function replaceAt<T>(list: T[], index: number, changes: Partial<T>): T[] {
  return list.map((item, at) => (at === index ? { ...item, ...changes } : item));
}

export function VariantFields({ draft, onChange }: Props) {
  const set = (index: number, changes: Partial<DraftVariant>) =>
    onChange({ variants: replaceAt(draft.variants, index, changes) });
  return (
    <>
      <p className="text-muted">
        The first variant is the control. The configuration is returned to your application together
        with the variant.
      </p>
      {draft.variants.map((variant, index) => (
        <fieldset
          key={index}
          className="grid grid-cols-[minmax(0,1fr)_5rem_2rem] gap-2 border-b pb-3 last:border-0"
        >
          <legend className="sr-only">Variant {index + 1}</legend>
          <Input
            aria-label={`Key of variant ${index + 1}`}
            value={variant.key}
            onChange={(event) => set(index, { key: event.target.value })}
          />
          <Input
            aria-label={`Weight of variant ${index + 1}`}
            type="number"
            min={0}
            step="any"
            value={variant.weight}
            onChange={(event) => set(index, { weight: event.target.valueAsNumber || 0 })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove variant ${index + 1}`}
            disabled={draft.variants.length <= 2}
            icon={<X className="size-4" />}
            onClick={() => onChange({ variants: draft.variants.filter((_, at) => at !== index) })}
          />
          <Input
            aria-label={`Configuration of variant ${index + 1}`}
            className="col-span-3 font-mono text-sm"
            placeholder='{"prompt": "v2"}'
            aria-invalid={readConfig(variant.config) === null}
            value={variant.config}
            onChange={(event) => set(index, { config: event.target.value })}
          />
        </fieldset>
      ))}
      <div>
        <Button
          icon={<Plus className="size-4" />}
          disabled={draft.variants.length >= MAX_VARIANTS}
          onClick={() =>
            onChange({
              variants: [
                ...draft.variants,
                { key: `variant-${draft.variants.length}`, weight: 1, config: "" },
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
            onChange={(what) => set(index, { what })}
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
