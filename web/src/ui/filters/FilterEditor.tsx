import type { Condition } from "@/lib/conditions";
import { Chips } from "./Chips";
import { FilterButton } from "./FilterButton";

interface Props {
  conditions: readonly Condition[];
  onChange: (conditions: Condition[]) => void;
}

/** Conditions that are not in the URL: those of a query or of an alert rule. */
export function FilterEditor({ conditions, onChange }: Props) {
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Chips conditions={conditions} onChange={(next) => onChange([...next])} />
      <FilterButton onAdd={(added) => onChange([...conditions, ...added])} />
    </div>
  );
}
