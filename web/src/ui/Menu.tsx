/** A button that opens a list of actions or choices, on Base UI. */
import { Menu as Base } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "./cx";
import { PANEL, TRIGGER } from "./overlayStyles";

const ITEM =
  "flex h-8 cursor-pointer items-center gap-2 rounded px-2 whitespace-nowrap outline-none data-highlighted:bg-hover";

interface MenuProps {
  label: ReactNode;
  ariaLabel: string;
  children: ReactNode;
  align?: "start" | "end";
  side?: "top" | "bottom";
  buttonClass?: string;
}

export function Menu({
  label,
  ariaLabel,
  children,
  align = "start",
  side = "bottom",
  buttonClass,
}: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger title={ariaLabel} className={cx(TRIGGER, buttonClass)}>
        <span className="sr-only">{ariaLabel}: </span>
        {label}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className="z-40"
        >
          <Base.Popup data-overlay className={PANEL}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Base.Item onClick={onClick} className={ITEM}>
      {children}
    </Base.Item>
  );
}

/** Separates groups of items. */
export function MenuLine() {
  return <Base.Separator className="my-1 border-t" />;
}

interface MenuCheckProps {
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  children: ReactNode;
}

/** A choice that can be combined with others; the menu stays open. */
export function MenuCheck({ isChecked, onChange, children }: MenuCheckProps) {
  return (
    <Base.CheckboxItem checked={isChecked} onCheckedChange={onChange} className={ITEM}>
      <span className="flex size-3.5 items-center">
        <Base.CheckboxItemIndicator>
          <Check className="size-3.5 text-accent" aria-hidden />
        </Base.CheckboxItemIndicator>
      </span>
      {children}
    </Base.CheckboxItem>
  );
}

interface MenuChoiceProps<T extends string> {
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: readonly { id: T; label: ReactNode }[];
}

/** One choice of several; the menu stays open. */
export function MenuChoice<T extends string>(props: MenuChoiceProps<T>) {
  const { label, value, onChange, options } = props;
  return (
    <Base.RadioGroup aria-label={label} value={value} onValueChange={onChange}>
      {options.map((option) => (
        <Base.RadioItem
          key={option.id}
          value={option.id}
          className={cx(ITEM, "data-checked:bg-accent-soft data-checked:text-accent")}
        >
          {option.label}
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
}
