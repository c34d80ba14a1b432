import type { ReactNode } from "react";
import { Button } from "./Button";
import { CenteredModal } from "./Modal";

interface Props {
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  action: string;
  isBusy: boolean;
  isDangerous?: boolean;
  isBlocked?: boolean;
  children: ReactNode;
}

/** Asks before a change that is hard to undo. */
export function ConfirmDialog(props: Props) {
  const { isOpen, onClose, onConfirm, title, action, isBusy, isDangerous, isBlocked } = props;
  return (
    <CenteredModal
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={isDangerous ? "danger" : "primary"}
            busy={isBusy}
            disabled={isBlocked}
            onClick={onConfirm}
          >
            {action}
          </Button>
        </>
      }
    >
      {props.children}
    </CenteredModal>
  );
}
