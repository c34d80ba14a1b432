import { useContext, useEffect, useLayoutEffect, useRef, useState } from "react";
import {
  COMPARISONS,
  type Comparison,
  type Condition,
  comparisonsOf,
  fromConditions,
  hasSuggestions,
  takesNumber,
  toConditions,
} from "@/lib/conditions";
import { FAILURE, type FilteredRows, FilteredRowsContext, fieldInfo } from "@/lib/filterFields";
import { useDebounced } from "@/lib/useDebounced";
import { Button } from "../Button";
import { Input, Select } from "../Field";
import { useValues } from "./useSuggestions";
import { ValueChoices } from "./ValueChoices";
import { takesValues, typedValues } from "./values";

interface Props {
  field: string;
  /** What is changed, if it is not a new filter: one condition, or the two bounds of a range. */
  before?: readonly Condition[];
  onDone: (conditions: Condition[]) => void;
}

interface Draft {
  comparison: Comparison;
  chosen: string[];
  /** A search for a value, or a value. */
  text: string;
  upper: string;
  /** It was submitted before it was known which value the typed text means. */
  isWaiting: boolean;
}

function readDraft(
  field: string,
  before: readonly Condition[] | undefined,
  rows: FilteredRows,
): Draft {
  const { comparison, values } = before
    ? fromConditions(before)
    : { comparison: comparisonsOf(field)[0] ?? "eq", values: [] };
  const isChosen = takesValues(comparison) && (hasSuggestions(field, rows) || values.length > 1);
  return {
    comparison,
    chosen: isChosen ? values : [],
    text: isChosen ? "" : (values[0] ?? ""),
    upper: comparison === "between" ? (values[1] ?? "") : "",
    isWaiting: false,
  };
}

/** The operator and the values of a condition. */
export function ConditionForm({ field, before, onDone }: Props) {
  const rows = useContext(FilteredRowsContext);
  const [draft, setDraft] = useState(() => readDraft(field, before, rows));
  const { comparison, chosen, text, upper, isWaiting } = draft;
  // A change after the form was submitted is not what was submitted.
  const change = (part: Partial<Draft>) => setDraft({ ...draft, isWaiting: false, ...part });
  const form = useRef<HTMLFormElement>(null);
  // It appears because of a click, and a value is typed next.
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);

  const isList = takesValues(comparison);
  const isSuggested = isList && hasSuggestions(field, rows);
  const search = useDebounced(text);
  const suggested = useValues(field, search, isSuggested);
  // The values that match the typed text are not known yet.
  const isUnknown = isSuggested && chosen.length === 0 && (suggested.isPending || search !== text);
  const needsNothing = comparison === "exists" || comparison === "missing";
  const values = isList
    ? isSuggested
      ? chosen.length > 0
        ? chosen
        : typedValues(text, suggested.data ?? [])
      : [...chosen, ...typedValues(text, [])]
    : comparison === "between"
      ? [text, upper]
      : [text];
  const isComplete =
    needsNothing || (values.length > 0 && values.every((one) => isValid(one, field, comparison)));
  const finish = () => onDone(toConditions(field, comparison, [...new Set(values)]));
  const mayWait = isUnknown && text.trim() !== "";
  useEffect(() => {
    if (!isWaiting || isUnknown) return;
    change({});
    if (isComplete) finish();
  });
  const { label } = fieldInfo(field);
  return (
    <form
      ref={form}
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        // The form may be opened from another one.
        event.stopPropagation();
        if (mayWait) change({ isWaiting: true });
        else if (isComplete) finish();
      }}
    >
      <Select
        aria-label="Operator"
        className="w-full max-w-none"
        value={comparison}
        onChange={(value) => change({ comparison: value as Comparison })}
        options={comparisonsOf(field).map((id) => ({ value: id, label: COMPARISONS[id] }))}
      />
      {isList ? (
        <ValueChoices
          field={field}
          isNumber={takesNumber(field, comparison)}
          suggested={isSuggested ? suggested : undefined}
          canAdd={isValid(text, field, comparison)}
          chosen={chosen}
          onChoose={(next) => change({ chosen: next })}
          onAdd={(value) => change({ chosen: [...new Set([...chosen, value])], text: "" })}
          text={text}
          onType={(typed) => change({ text: typed })}
        />
      ) : (
        !needsNothing && (
          <div className="flex items-center gap-2">
            <Value
              label={`${label} value`}
              {...{ field, comparison }}
              text={text}
              set={(typed) => change({ text: typed })}
            />
            {comparison === "between" && (
              <>
                <span className="text-muted">and</span>
                <Value
                  label={`${label} upper value`}
                  {...{ field, comparison }}
                  text={upper}
                  set={(typed) => change({ upper: typed })}
                />
              </>
            )}
          </div>
        )
      )}
      <Button
        type="submit"
        kind="primary"
        disabled={!isComplete && !mayWait}
        busy={isWaiting && isUnknown}
      >
        {before ? "Change filter" : "Add filter"}
      </Button>
    </form>
  );
}

const FAILURE_ID = /^flr_[0-9a-f]{16}$/;

function isValid(text: string, field: string, comparison: Comparison): boolean {
  if (text.trim() === "") return false;
  if (field === FAILURE) return FAILURE_ID.test(text.trim());
  return !takesNumber(field, comparison) || Number.isFinite(Number(text));
}

interface ValueProps {
  label: string;
  field: string;
  comparison: Comparison;
  text: string;
  set: (text: string) => void;
}

function Value({ label, field, comparison, text, set }: ValueProps) {
  const { unit } = fieldInfo(field);
  return (
    <Input
      type={takesNumber(field, comparison) ? "number" : "text"}
      step="any"
      aria-label={label}
      placeholder={unit ?? (takesNumber(field, comparison) ? "Number" : "Text")}
      value={text}
      onChange={(event) => set(event.target.value)}
    />
  );
}
