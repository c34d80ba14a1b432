import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Member, unwrap, type Workspace } from "@/lib/api";
import { useProfile, workspacesQuery } from "@/lib/queries";
import { includesRole, type Role } from "@/lib/roles";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { Select } from "@/ui/Field";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";
import { assignableRoles } from "./roleTexts";

interface Props {
  member: Member;
  workspace: Workspace;
}

function useMemberChange({ member, workspace }: Props) {
  const queries = useQueryClient();
  const params = { path: { workspaceId: workspace.id, userId: member.userId } };
  const onSuccess = () => {
    void queries.invalidateQueries({ queryKey: ["members"] });
    void queries.invalidateQueries({ queryKey: workspacesQuery.queryKey });
  };
  const onError = (error: Error) => toast(error.message, "bad");
  const path = "/api/workspaces/{workspaceId}/members/{userId}";
  const change = useMutation({
    mutationFn: (role: Role) => unwrap(api.PUT(path, { params, body: { role } })),
    onSuccess: () => {
      onSuccess();
      toast("Saved.", "good");
    },
    onError,
  });
  const remove = useMutation({
    mutationFn: () => unwrap(api.DELETE(path, { params })),
    onSuccess: () => {
      onSuccess();
      toast(`${member.name} was removed.`);
    },
    onError,
  });
  return { change, remove };
}

export function MemberRow({ member, workspace }: Props) {
  const { data: me } = useProfile();
  const isMe = member.userId === me?.id;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b px-3.5 py-2 last:border-0">
      <span className="min-w-0 flex-1 basis-56">
        <span className="flex items-center gap-2">
          <span className="truncate font-medium" title={member.userId}>
            {member.name}
          </span>
          {isMe && <Badge>you</Badge>}
          {member.disabled && <Badge tone="bad">disabled</Badge>}
        </span>
        <span className="block truncate text-sm text-muted">{member.email}</span>
      </span>
      <span className="w-36 text-sm text-muted">
        Joined <Time at={member.joinedAt} />
      </span>
      <span className="w-36 text-sm text-muted">
        {member.lastLoginAt ? (
          <>
            Signed in <Time at={member.lastLoginAt} />
          </>
        ) : (
          "Never signed in"
        )}
      </span>
      {includesRole(workspace.role, "admin") ? (
        <Controls member={member} workspace={workspace} isMe={isMe} />
      ) : (
        <span className="w-24 text-right">
          <Badge>{member.role}</Badge>
        </span>
      )}
    </li>
  );
}

function Controls({ member, workspace, isMe }: Props & { isMe: boolean }) {
  const { change, remove } = useMemberChange({ member, workspace });
  const [confirming, setConfirming] = useState<"owner" | "remove" | null>(null);
  const close = () => setConfirming(null);
  const reason = isMe
    ? "You cannot change your own role"
    : member.role === "owner" && workspace.role !== "owner"
      ? "Owners only"
      : undefined;
  const roles = assignableRoles(workspace.role);
  return (
    <span className="flex items-center gap-2">
      <Select
        aria-label={`Role of ${member.email}`}
        title={reason}
        value={member.role}
        disabled={reason !== undefined || change.isPending}
        onChange={(role) =>
          role === "owner" ? setConfirming("owner") : change.mutate(role as Role)
        }
        options={roles.includes(member.role) ? roles : [...roles, member.role]}
      />
      <Button
        size="small"
        kind="danger"
        disabled={reason !== undefined}
        title={isMe ? "Leave from the General tab" : reason}
        onClick={() => setConfirming("remove")}
      >
        Remove
      </Button>
      <ConfirmDialog
        isOpen={confirming === "owner"}
        onClose={close}
        title={`Make ${member.name} an owner?`}
        action="Make owner"
        isBusy={change.isPending}
        onConfirm={() => change.mutate("owner", { onSuccess: close })}
      >
        An owner may delete the workspace and remove other owners, including you. To hand the
        workspace over, leave it afterwards.
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={confirming === "remove"}
        onClose={close}
        title={`Remove ${member.name}?`}
        action="Remove"
        isDangerous
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSuccess: close })}
      >
        {member.name} loses access immediately. Keys that {member.name} created keep working; revoke
        them on the page API keys if needed.
      </ConfirmDialog>
    </span>
  );
}
