/** The conditions of a query, one per row: field, operator and value. */
import { Plus, X } from "lucide-react";
import {
  ATTRIBUTE,
  type Condition,
  FIELD_NAMES,
  fieldLabel,
  isNumeric,
  OPERATORS,
  type Operator,
  operatorsOf,
} from "@/lib/analyticsQuery";
import { useFilterValues } from "@/lib/queries";
import { useAttributes } from "@/lib/runQuery";
import { Button } from "../Button";
import { Select } from "../Field";
import { FieldPicker, SuggestInput } from "./FieldPicker";

const MOST_FILTERS = 20;

interface Props {
  filters: Condition[];
  onChange: (filters: Condition[]) => void;
}

export function FilterRows({ filters, onChange }: Props) {
  const replace = (index: number, next: Condition) =>
    onChange(filters.map((one, at) => (at === index ? next : one)));
  return (
    <div className="flex flex-wrap items-center gap-2">
      {filters.map((condition, index) => (
        <FilterRow
          key={index}
          number={index + 1}
          condition={condition}
          onChange={(next) => replace(index, next)}
          onRemove={() => onChange(filters.filter((_, at) => at !== index))}
        />
      ))}
      <Button
        size="small"
        kind="quiet"
        disabled={filters.length >= MOST_FILTERS}
        icon={<Plus className="size-3.5" />}
        onClick={() => onChange([...filters, { field: "agent", op: "eq", value: "" }])}
      >
        Add filter
      </Button>
    </div>
  );
}

interface RowProps {
  number: number;
  condition: Condition;
  onChange: (next: Condition) => void;
  onRemove: () => void;
}

function FilterRow({ number, condition, onChange, onRemove }: RowProps) {
  const { field, op } = condition;
  const operators = operatorsOf(field);
  const changeField = (next: string) => {
    const isSame = operatorsOf(next).includes(op);
    onChange({ field: next, op: isSame ? op : (operatorsOf(next)[0] ?? "eq"), value: "" });
  };
  return (
    <div
      role="group"
      aria-label={`Filter ${number}: ${fieldLabel(field)}`}
      className="flex max-w-full flex-wrap items-center gap-1 rounded-md border bg-raised p-1"
    >
      <FieldPicker
        label={`Field of filter ${number}`}
        value={field}
        names={FIELD_NAMES}
        none="Choose a field"
        onChange={changeField}
      />
      <Select
        aria-label={`Operator of filter ${number}`}
        value={operatorValue(condition)}
        onChange={(value) => onChange(withOperator(condition, value))}
        options={[
          ...operators.map((value) => ({ value, label: OPERATORS[value] })),
          ...(operators.includes("exists") ? [{ value: "missing", label: "has no value" }] : []),
        ]}
      />
      {op !== "exists" && <ValueInput number={number} condition={condition} onChange={onChange} />}
      <Button
        size="small"
        kind="quiet"
        aria-label={`Remove filter ${number}`}
        onClick={onRemove}
        icon={<X className="size-3.5" />}
      />
    </div>
  );
}

function operatorValue({ op, value }: Condition): string {
  return op === "exists" && value === false ? "missing" : op;
}

function withOperator(condition: Condition, value: string): Condition {
  if (value === "missing") return { ...condition, op: "exists", value: false };
  const op = value as Operator;
  if (op === "exists") return { ...condition, op, value: true };
  return { ...condition, op, value: toValue(op, textOf(condition)) };
}

function textOf({ value }: Condition): string {
  if (Array.isArray(value)) return value.join(", ");
  return value === undefined || value === null || typeof value === "boolean" ? "" : String(value);
}

function toValue(op: Operator, text: string): NonNullable<Condition["value"]> {
  if (op !== "in") return text;
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function ValueInput({ number, condition, onChange }: Omit<RowProps, "onRemove">) {
  return (
    <SuggestInput
      label={`Value of filter ${number}`}
      type={isNumeric(condition) ? "number" : "text"}
      value={textOf(condition)}
      suggestions={useSuggestions(condition.field)}
      placeholder={condition.op === "in" ? "Values, with commas" : "Value"}
      onChange={(text) => onChange({ ...condition, value: toValue(condition.op, text) })}
    />
  );
}

function useSuggestions(field: string): string[] {
  const { data } = useFilterValues();
  const isAttribute = field.startsWith(ATTRIBUTE);
  const values = useAttributes(isAttribute ? field.slice(ATTRIBUTE.length) : "", isAttribute);
  if (isAttribute) return values;
  switch (field) {
    case "agent":
      return data?.agents.map((one) => one.name) ?? [];
    case "model":
      return data?.models ?? [];
    case "provider":
      return data?.providers ?? [];
    case "tool":
      return data?.tools ?? [];
    case "kind":
      return data?.kinds ?? [];
    case "errorType":
      return data?.errorTypes ?? [];
    case "environment":
      return data?.environments ?? [];
    case "status":
      return ["success", "ok", "error", "unset"];
    default:
      return [];
  }
}
