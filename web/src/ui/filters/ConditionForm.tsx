import { useEffect, useState } from "react";
import {
  ATTRIBUTE,
  COMPARISONS,
  type Comparison,
  type Condition,
  comparisonsOf,
  fieldInfo,
  fromCondition,
  takesNumber,
  toConditions,
} from "@/lib/conditions";
import { formatCompact } from "@/lib/format";
import { Button } from "../Button";
import { Input, Select } from "../Field";
import { useValues } from "./useSuggestions";

interface Props {
  field: string;
  /** The condition that is changed, if it is not a new one. */
  before?: Condition;
  onDone: (conditions: Condition[]) => void;
}

/** The operator and the values of a condition. */
export function ConditionForm({ field, before, onDone }: Props) {
  const comparisons = comparisonsOf(field);
  const { label, type } = fieldInfo(field);
  const initial = before && fromCondition(before);
  const isChosen = type === "choice" && ["eq", "ne"].includes(initial?.comparison ?? "");
  const [comparison, setComparison] = useState(initial?.comparison ?? comparisons[0] ?? "eq");
  const [chosen, setChosen] = useState<string[]>(isChosen ? (initial?.values ?? []) : []);
  const [text, setText] = useState(isChosen ? "" : (initial?.values[0] ?? ""));
  const [upper, setUpper] = useState("");
  const suggested = useValues(field, text, type === "choice");
  const [isWaiting, setWaiting] = useState(false);
  const needsNothing = comparison === "exists" || comparison === "missing";
  const isChoice = type === "choice" && (comparison === "eq" || comparison === "ne");
  const values = isChoice
    ? chosen.length > 0
      ? chosen
      : typedValues(text, suggested.data?.map(({ name }) => name) ?? [])
    : comparison === "between"
      ? [text, upper]
      : [text];
  const isComplete =
    needsNothing || (values.length > 0 && values.every((one) => isValid(one, field, comparison)));
  const finish = () => onDone(toConditions(field, comparison, values));
  // The values that match the typed text are not known yet.
  const isUnknown = isChoice && chosen.length === 0 && suggested.isPending;
  useEffect(() => {
    if (!isWaiting || isUnknown) return;
    setWaiting(false);
    finish();
  });
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        // The form may be opened from another one.
        event.stopPropagation();
        if (isComplete && isUnknown) setWaiting(true);
        else if (isComplete) finish();
      }}
    >
      <Select
        aria-label="Operator"
        className="w-full max-w-none"
        value={comparison}
        onChange={(value) => setComparison(value as Comparison)}
        options={comparisons.map((id) => ({ value: id, label: COMPARISONS[id] }))}
      />
      {isChoice ? (
        <Choices
          field={field}
          chosen={chosen}
          onChoose={setChosen}
          search={text}
          onSearch={setText}
        />
      ) : (
        !needsNothing && (
          <div className="flex items-center gap-2">
            <Value
              label={`${label} value`}
              {...{ field, comparison }}
              text={text}
              set={setText}
              startsFocused
            />
            {comparison === "between" && (
              <>
                <span className="text-muted">and</span>
                <Value
                  label={`${label} upper value`}
                  {...{ field, comparison }}
                  text={upper}
                  set={setUpper}
                />
              </>
            )}
          </div>
        )
      )}
      <Button type="submit" kind="primary" disabled={!isComplete}>
        {before ? "Change filter" : "Add filter"}
      </Button>
    </form>
  );
}

/** What typed text means without a choice: the only value that it matches, or itself. */
function typedValues(text: string, suggested: readonly string[]): string[] {
  const typed = text.trim();
  if (!typed) return [];
  const [only] = suggested;
  return suggested.length === 1 && only !== undefined ? [only] : [typed];
}

function isValid(text: string, field: string, comparison: Comparison): boolean {
  return text.trim() !== "" && (!takesNumber(field, comparison) || Number.isFinite(Number(text)));
}

interface ValueProps {
  label: string;
  field: string;
  comparison: Comparison;
  text: string;
  set: (text: string) => void;
  startsFocused?: boolean;
}

function Value({ label, field, comparison, text, set, startsFocused }: ValueProps) {
  const { unit } = fieldInfo(field);
  return (
    <Input
      type={takesNumber(field, comparison) ? "number" : "text"}
      step="any"
      aria-label={label}
      placeholder={unit ?? (takesNumber(field, comparison) ? "Number" : "Text")}
      autoFocus={startsFocused}
      value={text}
      onChange={(event) => set(event.target.value)}
    />
  );
}

interface ChoicesProps {
  field: string;
  chosen: string[];
  onChoose: (chosen: string[]) => void;
  search: string;
  onSearch: (search: string) => void;
}

/** The values that occur, with their counts; a value that does not occur can be typed. */
function Choices({ field, chosen, onChoose, search, onSearch }: ChoicesProps) {
  const values = useValues(field, search, true);
  const found = values.data ?? [];
  // What was chosen stays visible while another search is typed.
  const kept = chosen.filter((name) => !found.some((one) => one.name === name));
  const counted = field.startsWith(ATTRIBUTE) ? "spans" : "traces";
  const toggle = (name: string) =>
    onChoose(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  return (
    <>
      <Input
        type="search"
        aria-label="Search values"
        placeholder="Search or type a value"
        // The form appears because of a click, and a value is typed next.
        autoFocus
        value={search}
        onChange={(event) => onSearch(event.target.value)}
      />
      <fieldset className="max-h-56 min-w-0 overflow-auto" aria-busy={values.isPending}>
        <legend className="sr-only">Values and the number of {counted}</legend>
        {[...kept.map((name) => ({ name, count: undefined })), ...found].map(({ name, count }) => (
          <label
            key={name}
            className="flex h-7 cursor-pointer items-center gap-2 rounded px-2 hover:bg-hover"
          >
            <input
              type="checkbox"
              className="size-3.5 shrink-0 accent-accent"
              checked={chosen.includes(name)}
              onChange={() => toggle(name)}
            />
            <span className="min-w-0 flex-1 truncate" title={name}>
              {name}
            </span>
            {count !== undefined && (
              <span className="text-sm text-muted" title={`${count} ${counted}`}>
                {formatCompact(count)}
              </span>
            )}
          </label>
        ))}
        {values.isSuccess && found.length === 0 && (
          <p className="px-2 py-1 text-sm text-muted">
            {search
              ? "Not found in this period; Enter adds it anyway."
              : "No values in this period"}
          </p>
        )}
        {values.error && <p className="px-2 py-1 text-sm text-bad">{values.error.message}</p>}
      </fieldset>
    </>
  );
}
