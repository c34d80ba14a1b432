/** Modal dialog and drawer, on Base UI: focus is trapped and returned, Escape closes. */
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { Button } from "./Button";
import { cx } from "./cx";

interface Props {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  footer?: ReactNode;
  className?: string;
  /** Without header and padding: the content draws everything itself. */
  isBare?: boolean;
}

/** Centered over the page. */
export function Dialog(props: Props) {
  return (
    <Modal
      {...props}
      className={cx(
        "inset-x-0 top-[50%] m-auto max-h-[85vh] w-[min(34rem,calc(100vw-2rem))] -translate-y-1/2 rounded-lg shadow-2xl",
        props.className,
      )}
    />
  );
}

/** At the right edge for details of a list item, at the left edge for navigation. */
export function Drawer({ side = "right", ...props }: Props & { side?: "left" | "right" }) {
  return (
    <Modal
      {...props}
      className={cx(
        "inset-y-0 h-dvh max-h-dvh w-[min(40rem,100vw)] border-y-0",
        side === "right" ? "right-0 border-r-0" : "left-0 border-l-0",
        props.className,
      )}
    />
  );
}

function Modal({ isOpen, onClose, title, children, footer, className, isBare }: Props) {
  const popup = useRef<HTMLDivElement>(null);
  // The first field, not the button that closes the dialog.
  const findFirstField = () =>
    popup.current?.querySelector<HTMLElement>("input, textarea, select") ?? true;
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-50 bg-[rgb(10_9_8/45%)]" />
        <Base.Popup
          ref={popup}
          data-overlay
          initialFocus={findFirstField}
          aria-label={isBare ? title : undefined}
          className={cx("fixed z-50 flex flex-col border bg-surface outline-none", className)}
        >
          {!isBare && (
            <header className="flex h-11 shrink-0 items-center justify-between border-b pr-2 pl-4">
              <Base.Title className="truncate font-medium">{title}</Base.Title>
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
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
