import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap, type Workspace } from "@/lib/api";
import { useMembers, useProfile } from "@/lib/queries";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { toast } from "@/ui/Toast";
import { Section } from "./Section";
import { useExit } from "./useExit";

export function LeaveWorkspace({ workspace }: { workspace: Workspace }) {
  const [isConfirming, setConfirming] = useState(false);
  const { data: me } = useProfile();
  const { data: members } = useMembers();
  const exit = useExit(workspace);
  const owners = members?.filter((one) => one.role === "owner" && !one.disabled) ?? [];
  const isLastOwner = workspace.role === "owner" && owners.length < 2;
  const leave = useMutation({
    mutationFn: () =>
      unwrap(
        api.DELETE("/api/workspaces/{workspaceId}/members/{userId}", {
          params: { path: { workspaceId: workspace.id, userId: me?.id ?? "" } },
        }),
      ),
    onSuccess: () => exit(`You left ${workspace.name}.`),
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <Section
      title="Leave"
      hint={
        isLastOwner
          ? "You are the only owner. To hand the workspace over, make another member owner first."
          : "You lose access. Keys that you created keep working."
      }
    >
      <Button kind="danger" disabled={!me || isLastOwner} onClick={() => setConfirming(true)}>
        Leave workspace
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Leave ${workspace.name}?`}
        action="Leave"
        isDangerous
        isBusy={leave.isPending}
        onConfirm={() => leave.mutate()}
      >
        You need a new invitation to come back.
      </ConfirmDialog>
    </Section>
  );
}
