/** The active filters, each with a form that changes it and a button that removes it. */
import { Link } from "@tanstack/react-router";
import { ArrowLeftRight, X } from "lucide-react";
import { lazy, type ReactNode, Suspense, useContext } from "react";
import { type Condition, comparisonSearch, groupConditions, useConditions } from "@/lib/conditions";
import { FilteredRowsContext, TRACES } from "@/lib/filterFields";
import { useUrl } from "@/lib/url";
import { Button } from "../Button";
import { useConditionText } from "./useConditionText";

const ChipPopover = lazy(() => import("./ChipPopover"));

interface Props {
  conditions: readonly Condition[];
  onChange: (conditions: readonly Condition[]) => void;
  /** The link that compares the two values of a condition, given the other conditions. */
  compare?: (condition: Condition, others: readonly Condition[]) => Comparison | null;
}

type Comparison = ReturnType<typeof comparisonSearch>;

export function Chips({ conditions, onChange, compare }: Props) {
  const groups = groupConditions(conditions);
  return groups.map((group, index) => {
    const others = groups.toSpliced(index, 1).flat();
    const [only, second] = group;
    return (
      <ConditionChip
        key={index}
        conditions={group}
        comparison={(only && !second && compare?.(only, others)) || null}
        onChange={(next) => onChange(groups.with(index, [...next]).flat())}
      />
    );
  });
}

interface ConditionChipProps {
  conditions: readonly Condition[];
  comparison: Comparison;
  onChange: (next: readonly Condition[]) => void;
}

function ConditionChip({ conditions, comparison, onChange }: ConditionChipProps) {
  const text = useConditionText(conditions);
  return (
    <Chip text={text} onRemove={() => onChange([])}>
      <Suspense fallback={text}>
        <ChipPopover conditions={conditions} text={text} onChange={onChange} />
      </Suspense>
      {comparison && (
        <Link
          to="/changes"
          search={comparison}
          aria-label={`Compare ${comparison.baseline} and ${comparison.candidate}`}
          title={`Compare ${comparison.baseline} and ${comparison.candidate}`}
          className="ml-1.5 inline-flex shrink-0 items-center gap-1 border-l border-accent/40 pl-1.5 hover:underline"
        >
          <ArrowLeftRight className="size-3" aria-hidden />
          Compare
        </Link>
      )}
    </Chip>
  );
}

/** The filters in the URL. */
export function UrlChips() {
  const [conditions, setConditions] = useConditions();
  const { search } = useUrl();
  const rows = useContext(FilteredRowsContext);
  // The page Changes compares traces, and finds no words.
  const compare = rows === TRACES && !search ? comparisonSearch : () => null;
  if (conditions.length === 0) return null;
  return (
    <>
      <Chips conditions={conditions} onChange={setConditions} compare={compare} />
      <Button kind="quiet" size="small" onClick={() => setConditions([])}>
        Clear
      </Button>
    </>
  );
}

interface ChipProps {
  text: string;
  onRemove: () => void;
  /** Shown instead of the text. */
  children?: ReactNode;
}

function Chip({ text, onRemove, children }: ChipProps) {
  return (
    <span className="inline-flex h-6 max-w-72 items-center gap-1 rounded bg-accent-soft pr-0.5 pl-2 text-sm text-accent">
      <span className="flex min-w-0 items-center truncate" title={text}>
        {children ?? text}
      </span>
      <button
        type="button"
        aria-label={`Remove filter ${text}`}
        onClick={onRemove}
        className="rounded p-0.5 hover:bg-surface"
      >
        <X className="size-3" />
      </button>
    </span>
  );
}
