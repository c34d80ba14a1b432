/** What dialogs and drawers share, on Base UI: focus is trapped and returned, Escape closes. */
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { Button } from "./Button";
import { cx } from "./cx";

export interface ModalProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  footer?: ReactNode;
  className?: string;
  /** Without header and padding: the content draws everything itself. */
  isBare?: boolean;
}

/** Over the whole page. */
export function CenteredModal(props: ModalProps) {
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

export function Modal(props: ModalProps) {
  const { isOpen, onClose, title, children, footer, className, isBare } = props;
  const popup = useRef<HTMLDivElement>(null);
  // The first field, not the button that closes the dialog.
  const findFirstField = () =>
    popup.current?.querySelector<HTMLElement>("input, textarea, select") ?? true;
  // Escape in the question of the frame, which opens above this dialog, is not meant for this one.
  const isOnTop = () => [...document.querySelectorAll("[data-overlay]")].at(-1) === popup.current;
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && isOnTop() && onClose()}>
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
