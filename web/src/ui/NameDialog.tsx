import { useState } from "react";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { TextField } from "./Field";

const MOST_NAME = 200;

interface Props {
  title: string;
  action: string;
  name: string;
  isBusy: boolean;
  onClose: () => void;
  onSave: (name: string) => void;
}

/** Asks for the name of a dashboard or a view. */
export function NameDialog({ title, action, name: initial, isBusy, onClose, onSave }: Props) {
  const [name, setName] = useState(initial);
  const isComplete = name.trim() !== "";
  const submit = () => isComplete && onSave(name.trim());
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={isBusy} disabled={!isComplete} onClick={submit}>
            {action}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField label="Name" value={name} maxLength={MOST_NAME} onChange={setName} />
      </form>
    </Dialog>
  );
}
