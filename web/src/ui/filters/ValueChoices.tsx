/** The values of a condition: suggested ones with their counts, and any that are typed. */
import { Plus } from "lucide-react";
import { ATTRIBUTE, FAILURE, fieldInfo } from "@/lib/filterFields";
import { formatCompact } from "@/lib/format";
import { Input } from "../Field";
import { useConditionLabels } from "./useConditionText";
import type { Suggestion } from "./useSuggestions";
import { typedValues } from "./values";

interface Props {
  field: string;
  isNumber: boolean;
  /** Undefined for a field without suggestions. */
  suggested:
    | { data: Suggestion[] | undefined; isPending: boolean; error: Error | null }
    | undefined;
  /** Whether the typed text is a value. */
  canAdd: boolean;
  chosen: string[];
  onChoose: (chosen: string[]) => void;
  onAdd: (value: string) => void;
  text: string;
  onType: (text: string) => void;
}

export function ValueChoices(props: Props) {
  const { field, isNumber, suggested, canAdd, chosen, onChoose, onAdd, text, onType } = props;
  const found = suggested?.data ?? [];
  // What was chosen stays visible while another search is typed.
  const kept = chosen.filter((name) => !found.some((one) => one.name === name));
  const labels = useConditionLabels(field, kept);
  const rows: Row[] = [...kept.map((name, at) => ({ name, label: labels[at] })), ...found];
  const counted = field.startsWith(ATTRIBUTE) ? "spans" : "traces";
  const typed = text.trim();
  const isListed = rows.some(({ name }) => name === typed);
  const { label, unit } = fieldInfo(field);
  const hint = field === FAILURE ? "Search failures" : "Search or type a value";
  return (
    <>
      <Input
        type={isNumber ? "number" : suggested ? "search" : "text"}
        step="any"
        aria-label={suggested ? "Search values" : `${label} value`}
        placeholder={suggested ? hint : (unit ?? (isNumber ? "Number" : "Text"))}
        value={text}
        onChange={(event) => onType(event.target.value)}
      />
      <fieldset
        className="max-h-56 min-w-0 overflow-auto empty:hidden"
        aria-busy={suggested?.isPending}
      >
        <legend className="sr-only">
          {suggested ? `Values and the number of ${counted}` : "Values"}
        </legend>
        {rows.map((row) => (
          <Choice
            key={row.name}
            row={row}
            counted={counted}
            isChosen={chosen.includes(row.name)}
            onToggle={(isChosen) =>
              onChoose(isChosen ? [...chosen, row.name] : chosen.filter((one) => one !== row.name))
            }
          />
        ))}
        {canAdd && !isListed && (
          <button
            type="button"
            onClick={() => onAdd(typed)}
            className="flex h-7 w-full items-center gap-2 rounded px-2 text-left hover:bg-hover"
          >
            <Plus className="size-3.5 shrink-0 text-muted" aria-hidden />
            <span className="min-w-0 truncate">
              {suggested ? `Use “${typed}” as typed` : "Add another value"}
            </span>
          </button>
        )}
        {suggested && (
          <Note
            text={noteOf(typed, found, canAdd, suggested.isPending, chosen.length > 0)}
            error={suggested.error}
          />
        )}
      </fieldset>
    </>
  );
}

/** What Enter would do where that is not obvious. */
function noteOf(
  typed: string,
  found: readonly Suggestion[],
  canAdd: boolean,
  isPending: boolean,
  isChosen: boolean,
): string {
  if (isPending) return "";
  if (found.length === 0) {
    if (!typed) return "No values in this period";
    return canAdd && !isChosen
      ? "Not found in this period; Enter adds it anyway."
      : "Not found in this period";
  }
  const [value = ""] = typedValues(typed, found);
  return canAdd && !isChosen && !found.some(({ name }) => name === value)
    ? `Enter adds “${typed}”, not a value above.`
    : "";
}

function Note({ text, error }: { text: string; error: Error | null }) {
  if (error) return <p className="px-2 py-1 text-sm text-bad">{error.message}</p>;
  return text && <p className="px-2 py-1 text-sm text-muted">{text}</p>;
}

interface Row {
  name: string;
  label?: string | undefined;
  count?: number | undefined;
}

interface ChoiceProps {
  row: Row;
  counted: string;
  isChosen: boolean;
  onToggle: (isChosen: boolean) => void;
}

function Choice({ row, counted, isChosen, onToggle }: ChoiceProps) {
  const { name, label = name, count } = row;
  return (
    <label className="flex h-7 cursor-pointer items-center gap-2 rounded px-2 hover:bg-hover">
      <input
        type="checkbox"
        className="size-3.5 shrink-0 accent-accent"
        checked={isChosen}
        onChange={() => onToggle(!isChosen)}
      />
      <span className="min-w-0 flex-1 truncate" title={label}>
        {label}
      </span>
      {count !== undefined && (
        <span className="text-sm text-muted" title={`${count} ${counted}`}>
          {formatCompact(count)}
        </span>
      )}
    </label>
  );
}
