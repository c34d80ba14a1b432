/** A dialog that asks before it drops what was typed, and a drawer. */
import { useEffect, useState } from "react";
import { useUnsaved } from "@/lib/unsaved";
import { ConfirmDialog } from "./ConfirmDialog";
import { cx } from "./cx";
import { CenteredModal, Modal, type ModalProps } from "./Modal";

interface Props extends ModalProps {
  /** Whether something was changed other than by typing into a field, which is noticed anyway. */
  isChanged?: boolean;
}

/**
 * Centered over the page. Once a field was changed, Escape, a click beside it and leaving the page
 * ask first; the buttons of the form call `onClose` without a question.
 */
export function Dialog({ isChanged = false, ...props }: Props) {
  const { isOpen, onClose, children } = props;
  const [isTyped, setTyped] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const isUnsaved = isOpen && !props.isBare && (isChanged || isTyped);
  useUnsaved(isUnsaved);
  useEffect(() => {
    if (!isOpen) setTyped(false);
  }, [isOpen]);
  return (
    <CenteredModal {...props} onClose={() => (isUnsaved ? setAsking(true) : onClose())}>
      <div className="contents" onInput={() => setTyped(true)}>
        {children}
      </div>
      {/* Inside, so that a click or Escape there is not one beside this dialog. */}
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false);
          onClose();
        }}
        title="Discard your changes?"
        action="Discard"
        isBusy={false}
        isDangerous
      >
        What you entered is not saved yet.
      </ConfirmDialog>
    </CenteredModal>
  );
}

/** At the right edge for details of a list item, at the left edge for navigation. */
export function Drawer({ side = "right", ...props }: ModalProps & { side?: "left" | "right" }) {
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
