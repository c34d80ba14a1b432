/** What a rule measures: its metric, and the signal, measure and filters that belong to it. */
import { type AlertRule, METRICS } from "@/lib/alerts";
import {
  type Entity,
  MEASURE_NAMES,
  measureOf,
  measuresOf,
  signalMeasure,
} from "@/lib/analyticsQuery";
import { useSignalNames } from "@/lib/queries";
import { Field, Input, Select } from "../Field";
import { FilterEditor } from "../filters/FilterEditor";

interface Props {
  rule: AlertRule;
  onChange: (changes: Partial<AlertRule>) => void;
  problem: (field: string) => string | undefined;
}

/** What changes with the metric, so that no contradictory fields are left. */
function withMetric(rule: AlertRule, metric: AlertRule["metric"]): Partial<AlertRule> {
  const changes: Partial<AlertRule> = {
    metric,
    signalName: metric === "signal" ? (rule.signalName ?? "") : null,
    measure: metric === "query" ? (rule.measure ?? "count") : null,
  };
  if (metric === "signal" || metric === "newFailureGroup") changes.filters = [];
  if (metric !== "newFailureGroup") return changes;
  const windowMinutes = Math.max(60, rule.windowMinutes);
  return { ...changes, condition: "above", sensitivity: null, threshold: 0, windowMinutes };
}

/** A measure that only spans have does not remain for traces. */
function withEntity(measure: string, of: Entity): Partial<AlertRule> {
  return { of, measure: measuresOf(of, [measure])[0] ?? "count" };
}

export function RuleMetric({ rule, onChange, problem }: Props) {
  return (
    <>
      <Field label="Metric" error={problem("metric")}>
        {(props) => (
          <Select
            {...props}
            className="w-full max-w-none"
            value={rule.metric}
            onChange={(metric) => onChange(withMetric(rule, metric as AlertRule["metric"]))}
            options={Object.entries(METRICS).map(([value, { label }]) => ({ value, label }))}
          />
        )}
      </Field>
      {rule.metric === "signal" && (
        <Field label="Signal" error={problem("signalName")}>
          {(props) => (
            <Input
              {...props}
              value={rule.signalName ?? ""}
              placeholder="thumbs_up"
              onChange={(event) => onChange({ signalName: event.target.value })}
            />
          )}
        </Field>
      )}
      {rule.metric === "query" && <Measure rule={rule} onChange={onChange} problem={problem} />}
    </>
  );
}

function Measure({ rule, onChange, problem }: Props) {
  const signals = useSignalNames().map(signalMeasure);
  const measure = rule.measure ?? "count";
  const offered = measuresOf(rule.of, [...MEASURE_NAMES, ...signals]);
  const names = [...new Set([...offered, measure])];
  return (
    <>
      <Field label="Measure" error={problem("measure")}>
        {(props) => (
          <Select
            {...props}
            className="w-full max-w-none"
            value={measure}
            onChange={(value) => onChange({ measure: value })}
            options={names.map((value) => ({ value, label: measureOf(value).label }))}
          />
        )}
      </Field>
      <Field label="Of" error={problem("of")}>
        {(props) => (
          <Select
            {...props}
            className="w-full max-w-none"
            value={rule.of}
            onChange={(value) => onChange(withEntity(measure, value as Entity))}
            options={["traces", "spans"]}
          />
        )}
      </Field>
    </>
  );
}

/** The conditions that a trace must meet to count. */
export function RuleFilters({ rule, onChange, problem }: Props) {
  if (rule.metric === "signal" || rule.metric === "newFailureGroup") return null;
  return (
    <div role="group" aria-label="Filters" className="col-span-full flex flex-col gap-1">
      <span className="font-medium">Only where</span>
      <FilterEditor conditions={rule.filters} onChange={(filters) => onChange({ filters })} />
      {problem("filters") && <p className="text-sm text-bad">{problem("filters")}</p>}
    </div>
  );
}
