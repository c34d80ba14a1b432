/** A button that opens a panel with any content, on Base UI. */
import { Popover as Base } from "@base-ui/react/popover";
import { type ReactNode, useState } from "react";
import { cx } from "./cx";
import { PANEL, TRIGGER } from "./overlayStyles";

interface Props {
  label: ReactNode;
  ariaLabel: string;
  children: (close: () => void) => ReactNode;
  align?: "start" | "end";
  buttonClass?: string;
  className?: string;
}

export function Popover({
  label,
  ariaLabel,
  children,
  align = "start",
  buttonClass,
  className,
}: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Base.Root open={isOpen} onOpenChange={setOpen}>
      <Base.Trigger title={ariaLabel} className={cx(TRIGGER, buttonClass)}>
        <span className="sr-only">{ariaLabel}: </span>
        {label}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align={align} sideOffset={4} collisionPadding={8} className="z-40">
          <Base.Popup data-overlay aria-label={ariaLabel} className={cx(PANEL, className)}>
            {children(() => setOpen(false))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function PopoverItem({
  onClick,
  isActive,
  children,
}: {
  onClick: () => void;
  isActive: boolean;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      onClick={onClick}
      aria-pressed={isActive}
      className={cx(
        "flex h-8 w-full items-center gap-2 rounded px-2 text-left whitespace-nowrap hover:bg-hover",
        isActive && "bg-accent-soft text-accent",
      )}
    >
      {children}
    </button>
  );
}
