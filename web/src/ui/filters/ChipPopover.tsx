/** The text of a filter, which opens the form that changes it. */
import type { Condition } from "@/lib/conditions";
import { fieldInfo } from "@/lib/filterFields";
import { Popover } from "../Popover";
import { ConditionForm } from "./ConditionForm";

interface Props {
  /** One condition, or the two bounds of a range. */
  conditions: readonly Condition[];
  text: string;
  onChange: (next: Condition[]) => void;
}

export default function ChipPopover({ conditions, text, onChange }: Props) {
  const field = conditions[0]?.field ?? "";
  return (
    <Popover
      ariaLabel="Change filter"
      className="w-[min(22rem,calc(100vw-2rem))] !overflow-hidden p-2"
      buttonClass="!h-6 min-w-0 !border-0 !bg-transparent !p-0 text-sm !text-accent hover:underline"
      label={<span className="truncate">{text}</span>}
    >
      {(close) => (
        <div className="flex flex-col gap-2">
          <h2 className="truncate font-medium">{fieldInfo(field).label}</h2>
          <ConditionForm
            field={field}
            before={conditions}
            onDone={(next) => {
              onChange(next);
              close();
            }}
          />
        </div>
      )}
    </Popover>
  );
}
