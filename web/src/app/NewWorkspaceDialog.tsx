import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { flushSync } from "react-dom";
import { ApiError, api, unwrap } from "@/lib/api";
import { workspacesQuery } from "@/lib/queries";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { TextField } from "@/ui/Field";
import { useSwitchWorkspace } from "./useSwitchWorkspace";

export default function NewWorkspaceDialog({ onClose }: { onClose: () => void }) {
  const form = useId();
  const [name, setName] = useState("");
  const queries = useQueryClient();
  const switchTo = useSwitchWorkspace();
  const create = useMutation({
    mutationFn: () => unwrap(api.POST("/api/workspaces", { body: { name: name.trim() } })),
    onSuccess: (created) => {
      queries.setQueryData(workspacesQuery.queryKey, (own) => [...(own ?? []), created]);
      // Now, so that leaving the page does not find this form unsaved.
      flushSync(onClose);
      switchTo(created.id, "/start");
    },
  });
  const problem =
    create.error instanceof ApiError
      ? (create.error.about("name") ?? create.error.message)
      : undefined;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="New workspace"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form={form}
            disabled={!name.trim()}
            busy={create.isPending}
          >
            Create
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim()) create.mutate();
        }}
      >
        <TextField
          label="Name"
          hint="A workspace has its own traces, keys and members. You become its owner."
          error={problem}
          value={name}
          onChange={setName}
        />
      </form>
    </Dialog>
  );
}
