import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap, type Workspace } from "@/lib/api";
import { workspacesQuery } from "@/lib/queries";
import { includesRole } from "@/lib/roles";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { TextField } from "@/ui/Field";
import { toast } from "@/ui/Toast";
import { Section } from "./Section";
import { useExit } from "./useExit";

/** Only owners see it. */
export function DeleteWorkspace({ workspace }: { workspace: Workspace }) {
  const [isConfirming, setConfirming] = useState(false);
  const [name, setName] = useState("");
  const { data: own } = useQuery(workspacesQuery);
  const exit = useExit(workspace);
  const remove = useMutation({
    mutationFn: () =>
      unwrap(
        api.DELETE("/api/workspaces/{workspaceId}", {
          params: { path: { workspaceId: workspace.id } },
          body: { name },
        }),
      ),
    onSuccess: () => exit(`${workspace.name} is deleted.`),
    onError: (error) => toast(error.message, "bad"),
  });
  if (!includesRole(workspace.role, "owner")) return null;
  const isLast = own?.length === 1;
  return (
    <Section
      title="Delete"
      hint={
        isLast
          ? "This is your last workspace. Create another one first."
          : "Deletes all traces, signals, logs, experiments and keys. This cannot be undone."
      }
    >
      <Button kind="danger" disabled={isLast} onClick={() => setConfirming(true)}>
        Delete workspace
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Delete ${workspace.name}?`}
        action="Delete workspace"
        isDangerous
        isBusy={remove.isPending}
        isBlocked={name !== workspace.name}
        onConfirm={() => remove.mutate()}
      >
        <p className="mb-3 text-muted">
          All its data is deleted for every member, and its keys stop working.
        </p>
        <TextField
          label={`Type “${workspace.name}” to confirm`}
          autoComplete="off"
          value={name}
          onChange={setName}
        />
      </ConfirmDialog>
    </Section>
  );
}
