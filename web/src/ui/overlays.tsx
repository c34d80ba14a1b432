/** Dialog, drawer and menu: the browser's own dialog does focus, Escape and what is behind. */
import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "./Button";
import { cx } from "./cx";

interface OverlayProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  footer?: ReactNode;
  className?: string;
  isBare?: boolean;
}

function useDialog(isOpen: boolean) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog) return;
    if (isOpen && !dialog.open) {
      dialog.showModal();
      // By itself it would choose the first button, which closes it.
      dialog.querySelector<HTMLElement>("input, textarea, select")?.focus();
    }
    if (!isOpen && dialog.open) dialog.close();
  }, [isOpen]);
  return ref;
}

function Overlay({ isOpen, onClose, title, children, footer, className, isBare }: OverlayProps) {
  const ref = useDialog(isOpen);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={ref}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
      className={cx("border bg-surface p-0 text-fg", className)}
    >
      {isOpen && (
        <div className="flex max-h-[inherit] flex-col">
          {!isBare && (
            <header className="flex h-11 shrink-0 items-center justify-between border-b pr-2 pl-4">
              <h2 className="truncate font-medium">{title}</h2>
              <Button
                kind="quiet"
                size="small"
                aria-label="Close"
                onClick={onClose}
                icon={<X className="size-4" />}
              />
            </header>
          )}
          <div className={cx("min-h-0 flex-1 overflow-auto", !isBare && "p-4")}>{children}</div>
          {footer && <footer className="flex justify-end gap-2 border-t p-3">{footer}</footer>}
        </div>
      )}
    </dialog>
  );
}

/** In the middle, over the page. */
export function Dialog(props: OverlayProps) {
  return (
    <Overlay
      {...props}
      className={cx(
        "m-auto max-h-[85vh] w-[min(34rem,calc(100vw-2rem))] rounded-lg shadow-2xl",
        props.className,
      )}
    />
  );
}

/** From the right, for details beside a list. */
export function Drawer(props: OverlayProps) {
  return (
    <Overlay
      {...props}
      className={cx(
        "mt-0 mr-0 mb-0 ml-auto h-dvh max-h-dvh w-[min(40rem,100vw)] border-y-0 border-r-0",
        props.className,
      )}
    />
  );
}

interface MenuProps {
  label: ReactNode;
  ariaLabel: string;
  children: (close: () => void) => ReactNode;
  align?: "left" | "right";
  buttonClass?: string;
  className?: string;
}

/** A button with a panel below it; closes on Escape, on a click elsewhere and when focus leaves. */
export function Menu({
  label,
  ariaLabel,
  children,
  align = "left",
  buttonClass,
  className,
}: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const onDown = (event: PointerEvent) => {
      if (!ref.current?.contains(event.target as Node)) setOpen(false);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") setOpen(false);
    };
    window.addEventListener("pointerdown", onDown);
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("pointerdown", onDown);
      window.removeEventListener("keydown", onKey);
    };
  }, [isOpen]);
  return (
    <div ref={ref} className="relative">
      <button
        type="button"
        aria-expanded={isOpen}
        title={ariaLabel}
        onClick={() => setOpen(!isOpen)}
        className={cx(
          "inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-surface px-2.5 whitespace-nowrap hover:bg-hover",
          buttonClass,
        )}
      >
        <span className="sr-only">{ariaLabel}: </span>
        {label}
      </button>
      {isOpen && (
        <div
          className={cx(
            "absolute top-full z-40 mt-1 max-h-[70vh] min-w-44 overflow-auto rounded-md border bg-surface p-1 shadow-xl",
            align === "right" ? "right-0" : "left-0",
            className,
          )}
        >
          {children(() => setOpen(false))}
        </div>
      )}
    </div>
  );
}

export function MenuItem({
  onClick,
  isActive,
  children,
}: {
  onClick: () => void;
  isActive?: boolean;
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
