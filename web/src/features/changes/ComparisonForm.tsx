/** Chooses what is compared: two periods, or two values of a dimension. */
import { ArrowLeftRight } from "lucide-react";
import { type Condition, DIMENSION_NAMES } from "@/lib/conditions";
import type { Search } from "@/lib/url";
import { Button } from "@/ui/Button";
import { Select } from "@/ui/Field";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { FieldPicker } from "@/ui/query/FieldPicker";
import { ValueBox } from "@/ui/query/ValueBox";
import { type Comparison, SHIFTS } from "./useChanges";

/** The most frequent questions first. */
const FIRST = ["serviceVersion", "model", "agent", "environment"];
const NAMES = [...new Set([...FIRST, ...DIMENSION_NAMES])];

interface Props {
  comparison: Comparison;
  /** The filters of the page. */
  where: readonly Condition[];
  onChange: (search: Search) => void;
}

export function ComparisonForm({ comparison, where, onChange }: Props) {
  const { dimension, baseline, candidate, shift } = comparison;
  const isNamed = dimension !== "" && !dimension.endsWith(":");
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2 rounded-lg border bg-surface p-3.5">
      <span aria-hidden className="text-muted">
        Compare
      </span>
      <FieldPicker
        label="Compare"
        value={dimension}
        names={NAMES}
        none="Two periods"
        onChange={(by) =>
          onChange({ by: by || undefined, baseline: undefined, candidate: undefined })
        }
      />
      {dimension === "" ? (
        <>
          <span className="text-muted">this period with</span>
          <Select
            aria-label="Baseline period"
            value={shift}
            onChange={(against) => onChange({ against: against || undefined })}
            options={Object.entries(SHIFTS).map(([value, { label }]) => ({
              value,
              label: label.toLowerCase(),
            }))}
          />
        </>
      ) : (
        <>
          <ValueBox
            label="Baseline"
            field={isNamed ? dimension : ""}
            where={where}
            value={baseline}
            onChange={(value) => onChange({ baseline: value || undefined, candidate })}
          />
          <Button
            aria-label="Swap baseline and candidate"
            icon={<ArrowLeftRight className="size-3.5" />}
            onClick={() => onChange({ baseline: candidate, candidate: baseline })}
          />
          <ValueBox
            label="Candidate"
            field={isNamed ? dimension : ""}
            where={where}
            value={candidate}
            onChange={(value) => onChange({ baseline, candidate: value || undefined })}
          />
        </>
      )}
      <div className="flex flex-wrap items-center gap-2 sm:ml-auto">
        <UrlChips />
        <UrlFilterButton />
      </div>
    </div>
  );
}
