import { useMutation, useQueryClient } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { ApiError, api, type Schemas, unwrap, type Workspace } from "@/lib/api";
import type { Role } from "@/lib/roles";
import { useUnsaved } from "@/lib/unsaved";
import { Button } from "@/ui/Button";
import { CodeBlock } from "@/ui/CodeBlock";
import { Dialog } from "@/ui/Dialog";
import { Field, Select, TextField } from "@/ui/Field";
import { assignableRoles, ROLE_TEXTS } from "./roleTexts";

type Created = Schemas["InvitationWithLink"];

export function InviteForm({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("editor");
  const [created, setCreated] = useState<Created | null>(null);
  useUnsaved(email.trim() !== "");
  const invite = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/workspaces/{workspaceId}/invitations", {
          params: { path: { workspaceId: workspace.id } },
          body: { email: email.trim(), role },
        }),
      ),
    onSuccess: (invitation) => {
      void queries.invalidateQueries({ queryKey: ["invitations"] });
      setEmail("");
      setCreated(invitation);
    },
  });
  const problem =
    invite.error instanceof ApiError
      ? (invite.error.about("email") ?? invite.error.message)
      : undefined;
  return (
    <form
      aria-label="Invite a member"
      className="grid items-start gap-3 border-b p-3.5 md:grid-cols-[minmax(0,20rem)_minmax(0,22rem)_auto]"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (email.trim()) invite.mutate();
      }}
    >
      <TextField
        label="Invite by e-mail"
        error={problem}
        type="email"
        autoComplete="off"
        placeholder="colleague@example.com"
        value={email}
        onChange={setEmail}
      />
      <Field label="Role" hint={ROLE_TEXTS[role]}>
        {(props) => (
          <Select
            {...props}
            className="w-full max-w-none"
            value={role}
            onChange={(value) => setRole(value as Role)}
            options={assignableRoles(workspace.role)}
          />
        )}
      </Field>
      <Button
        kind="primary"
        type="submit"
        className="md:mt-6 md:justify-self-start"
        icon={<UserPlus className="size-4" />}
        disabled={!email.trim()}
        busy={invite.isPending}
      >
        Invite
      </Button>
      <LinkDialog created={created} onClose={() => setCreated(null)} />
    </form>
  );
}

function LinkDialog({ created, onClose }: { created: Created | null; onClose: () => void }) {
  return (
    <Dialog
      isOpen={created !== null}
      onClose={onClose}
      title="Invitation sent"
      footer={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <p className="mb-3 text-muted">
        {created?.email} gets this link by e-mail. You can also send it yourself: it is shown only
        now and works once, for this address, for 7 days.
      </p>
      <CodeBlock code={created?.link ?? ""} label="Invitation link" />
    </Dialog>
  );
}
