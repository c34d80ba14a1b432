/** Edits a query: what is measured, in which groups, with which filters, and how it is drawn. */
import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import {
  columnLabel,
  type Entity,
  MEASURE_NAMES,
  measureOf,
  measuresOf,
  signalMeasure,
} from "@/lib/analyticsQuery";
import { DIMENSION_NAMES } from "@/lib/conditions";
import { ATTRIBUTE } from "@/lib/filterFields";
import { formatCounted } from "@/lib/format";
import { useSignalNames } from "@/lib/queries";
import {
  CHARTS,
  type Draft,
  LIMITS,
  MOST_GROUPINGS,
  offeredSteps,
  STEPS,
  type Step,
  withPart,
} from "@/lib/queryDraft";
import { Button } from "../Button";
import { Select } from "../Field";
import { FilterEditor } from "../filters/FilterEditor";
import { FieldPicker } from "./FieldPicker";

interface Props {
  draft: Draft;
  onChange: (draft: Draft) => void;
}

export function QueryForm({ draft, onChange }: Props) {
  const change = (part: Partial<Draft>) => onChange(withPart(draft, part));
  return (
    <div className="flex flex-col gap-2.5">
      <Line label="Measure">
        <Measures draft={draft} change={change} />
      </Line>
      <Line label="Group by">
        <Groupings draft={draft} change={change} />
      </Line>
      <Line label="Where">
        <FilterEditor conditions={draft.filters} onChange={(filters) => change({ filters })} />
      </Line>
      <Line label="Show">
        <Select
          aria-label="Chart"
          value={draft.chart}
          onChange={(value) => change({ chart: value as Draft["chart"] })}
          options={CHARTS}
        />
        <Select
          aria-label="Interval"
          value={draft.step}
          onChange={(value) => change({ step: value as Step })}
          options={offeredSteps(draft.chart).map((value) => ({ value, label: stepLabel(value) }))}
          disabled={draft.chart === "number"}
        />
        <Ordering draft={draft} change={change} />
      </Line>
    </div>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div
      role="group"
      aria-label={label}
      className="grid gap-x-3 gap-y-1 md:grid-cols-[5rem_minmax(0,1fr)]"
    >
      <span aria-hidden className="text-sm font-medium text-muted md:pt-1.5">
        {label}
      </span>
      <div className="flex min-w-0 flex-wrap items-center gap-2">{children}</div>
    </div>
  );
}

function stepLabel(step: Step): string {
  if (step === "auto") return "Interval: auto";
  if (step === "none") return "Whole period";
  return STEPS.find((one) => one.value === step)?.label ?? step;
}

interface PartProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

function Measures({ draft: { of, measures }, change }: PartProps) {
  const signals = useSignalNames().map(signalMeasure);
  const free = measuresOf(of, [...MEASURE_NAMES, ...signals]).filter(
    (name) => !measures.includes(name),
  );
  const changeOf = (next: Entity) => {
    const kept = measuresOf(next, measures);
    change({ of: next, measures: kept.length > 0 ? kept : ["count"] });
  };
  return (
    <>
      {measures.map((name) => (
        <span
          key={name}
          className="inline-flex h-8 items-center gap-1 rounded-md bg-accent-soft pr-1 pl-2.5 text-accent"
        >
          {measureOf(name).label}
          {measures.length > 1 && (
            <button
              type="button"
              aria-label={`Remove ${measureOf(name).label}`}
              onClick={() => change({ measures: measures.filter((one) => one !== name) })}
              className="flex size-6 items-center justify-center rounded hover:bg-hover"
            >
              <X className="size-3.5" aria-hidden />
            </button>
          )}
        </span>
      ))}
      <Select
        aria-label="Add a measure"
        value=""
        onChange={(name) => name && change({ measures: [...measures, name] })}
        options={[
          { value: "", label: "+ Add measure" },
          ...free.map((value) => ({ value, label: measureOf(value).label })),
        ]}
      />
      <span className="text-muted">of</span>
      <Select
        aria-label="Of"
        value={of}
        onChange={(value) => changeOf(value as Entity)}
        options={["traces", "spans"]}
      />
    </>
  );
}

function Groupings({ draft: { groupBy }, change }: PartProps) {
  const replace = (index: number, name: string) =>
    change({
      groupBy: name
        ? groupBy.map((one, at) => (at === index ? name : one))
        : groupBy.filter((_, at) => at !== index),
    });
  const names = (own: string) =>
    DIMENSION_NAMES.filter((name) => name === own || !groupBy.includes(name));
  return (
    <>
      {groupBy.map((name, index) => (
        <FieldPicker
          key={index}
          label={`Group by ${index + 1}`}
          value={name}
          names={names(name)}
          none="Remove"
          onChange={(next) => replace(index, next)}
        />
      ))}
      {groupBy.length === 0 && (
        <FieldPicker
          label="Group by 1"
          value=""
          names={names("")}
          none="Not grouped"
          onChange={(name) => name && change({ groupBy: [name] })}
        />
      )}
      {groupBy.length > 0 && groupBy.length < MOST_GROUPINGS && (
        <Button
          size="small"
          kind="quiet"
          icon={<Plus className="size-3.5" />}
          onClick={() => change({ groupBy: [...groupBy, names("")[0] ?? ATTRIBUTE] })}
        >
          Add grouping
        </Button>
      )}
    </>
  );
}

function Ordering({ draft, change }: PartProps) {
  const { orderBy, measures, groupBy, limit } = draft;
  if (groupBy.length === 0) return null;
  const first = measures[0] ?? "count";
  const names = [...measures, ...groupBy.filter((name) => name !== ATTRIBUTE)];
  const { field, order } = orderBy ?? { field: first, order: "desc" as const };
  const limits = LIMITS.includes(limit) ? LIMITS : [...LIMITS, limit].toSorted((a, b) => a - b);
  return (
    <>
      <Select
        aria-label="Order by"
        value={names.includes(field) ? field : first}
        onChange={(value) => change({ orderBy: { field: value, order } })}
        options={names.map((value) => ({ value, label: `By ${columnLabel(value)}` }))}
      />
      <Select
        aria-label="Direction"
        value={order}
        onChange={(value) => change({ orderBy: { field, order: value as "asc" | "desc" } })}
        options={[
          { value: "desc", label: "Descending" },
          { value: "asc", label: "Ascending" },
        ]}
      />
      <Select
        aria-label="Limit"
        value={String(limit)}
        onChange={(value) => change({ limit: Number(value) })}
        options={limits.map((one) => ({ value: String(one), label: formatCounted(one, "group") }))}
      />
    </>
  );
}
