/** The fields of one rule. */
import { useState } from "react";
import { type AlertRule, displayOf, isRate, SEVERITIES } from "@/lib/alerts";
import { Checkbox, Field, Input, Select } from "../Field";
import { RuleFilters, RuleMetric } from "./RuleMetric";

interface Props {
  rule: AlertRule;
  onChange: (rule: AlertRule) => void;
  problem: (field: string) => string | undefined;
}

const CONDITIONS = [
  { value: "above", label: "is above" },
  { value: "below", label: "is below" },
  { value: "anomaly", label: "is unusual for the time of day" },
];

export function RuleForm({ rule, onChange, problem }: Props) {
  const change = (changes: Partial<AlertRule>) => onChange({ ...rule, ...changes });
  const setCondition = (condition: AlertRule["condition"]) =>
    change(
      condition === "anomaly"
        ? { condition, threshold: null, windowMinutes: Math.min(rule.windowMinutes, 60) }
        : { condition, sensitivity: null, threshold: rule.threshold ?? 0 },
    );
  return (
    <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2 xl:grid-cols-4">
      <Field label="Name" error={problem("name")}>
        {(props) => (
          <Input
            {...props}
            value={rule.name ?? ""}
            onChange={(event) => change({ name: event.target.value || null })}
          />
        )}
      </Field>
      <RuleMetric rule={rule} onChange={change} problem={problem} />
      <Field label="Condition" error={problem("condition")}>
        {(props) => (
          <Select
            {...props}
            className="w-full max-w-none"
            value={rule.condition}
            onChange={(value) => setCondition(value as AlertRule["condition"])}
            options={rule.metric === "newFailureGroup" ? CONDITIONS.slice(0, 1) : CONDITIONS}
          />
        )}
      </Field>
      {rule.condition === "anomaly" ? (
        <Field
          label="Sensitivity"
          hint="How large a deviation must be"
          error={problem("sensitivity")}
        >
          {(props) => (
            <Select
              {...props}
              className="w-full max-w-none"
              value={rule.sensitivity ?? "medium"}
              onChange={(value) => change({ sensitivity: value as "low" | "medium" | "high" })}
              options={["low", "medium", "high"]}
            />
          )}
        </Field>
      ) : (
        <Threshold
          key={`${rule.metric} ${rule.measure}`}
          rule={rule}
          onChange={change}
          error={problem("threshold")}
        />
      )}
      <Count
        label="Window (min)"
        value={rule.windowMinutes}
        onChange={(windowMinutes) => change({ windowMinutes })}
        error={problem("windowMinutes")}
      />
      <Count
        label="For at least (min)"
        value={rule.forMinutes}
        onChange={(forMinutes) => change({ forMinutes })}
        error={problem("forMinutes")}
      />
      <Count
        label="Minimum samples"
        hint="traces per window"
        value={rule.minSamples}
        onChange={(minSamples) => change({ minSamples })}
        error={problem("minSamples")}
      />
      <Field label="Severity" error={problem("severity")}>
        {(props) => (
          <Select
            {...props}
            className="w-full max-w-none"
            value={rule.severity}
            onChange={(value) => change({ severity: value as AlertRule["severity"] })}
            options={SEVERITIES}
          />
        )}
      </Field>
      <RuleFilters rule={rule} onChange={change} problem={problem} />
      <Checkbox
        label="Rule enabled"
        checked={rule.enabled}
        onChange={(event) => change({ enabled: event.target.checked })}
      />
    </div>
  );
}

/** An error rate is typed in percent and sent as a ratio. */
function Threshold({
  rule,
  onChange,
  error,
}: {
  rule: AlertRule;
  onChange: (changes: Partial<AlertRule>) => void;
  error: string | undefined;
}) {
  const factor = isRate(rule) ? 100 : 1;
  const shown =
    rule.threshold == null ? "" : String(Number((rule.threshold * factor).toPrecision(8)));
  const [text, setText] = useState(shown);
  return (
    <Field label="Threshold" hint={displayOf(rule).unit} error={error}>
      {(props) => (
        <Input
          {...props}
          inputMode="decimal"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            const value = Number(event.target.value);
            if (event.target.value !== "" && Number.isFinite(value)) {
              onChange({ threshold: value / factor });
            }
          }}
        />
      )}
    </Field>
  );
}

function Count({
  label,
  hint,
  value,
  onChange,
  error,
}: {
  label: string;
  hint?: string;
  value: number;
  onChange: (value: number) => void;
  error: string | undefined;
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(props) => (
        <Input
          {...props}
          type="number"
          min={0}
          max={1440}
          value={value}
          onChange={(event) => onChange(Math.max(0, Math.round(event.target.valueAsNumber || 0)))}
        />
      )}
    </Field>
  );
}
