/** Name, rules for keys, one's own default, leaving and deleting. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, unwrap, type Workspace } from "@/lib/api";
import { profileQuery, useProfile } from "@/lib/queries";
import { ONLY, useCan } from "@/lib/roles";
import { useUnsaved } from "@/lib/unsaved";
import { Button } from "@/ui/Button";
import { CopyId } from "@/ui/Copy";
import { Checkbox, TextField } from "@/ui/Field";
import { RoleButton } from "@/ui/RoleButton";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";
import { DeleteWorkspace } from "./DeleteWorkspace";
import { LeaveWorkspace } from "./LeaveWorkspace";
import { Section } from "./Section";
import { useWorkspaceChange } from "./useWorkspaceChange";

export function General({ workspace }: { workspace: Workspace }) {
  return (
    <>
      <Name workspace={workspace} />
      <KeyExpiry workspace={workspace} />
      <Default workspace={workspace} />
      <LeaveWorkspace workspace={workspace} />
      <DeleteWorkspace workspace={workspace} />
    </>
  );
}

function Name({ workspace }: { workspace: Workspace }) {
  const [name, setName] = useState(workspace.name);
  const save = useWorkspaceChange(workspace);
  const isAllowed = useCan()("admin");
  const isChanged = name.trim() !== "" && name.trim() !== workspace.name;
  useUnsaved(isChanged);
  const problem = save.error instanceof ApiError ? save.error.about("name") : undefined;
  return (
    <Section
      title="Name"
      hint={
        <>
          <CopyId id={workspace.id} /> · created <Time at={workspace.createdAt} as="short" />
        </>
      }
    >
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged) save.mutate({ name: name.trim() });
        }}
      >
        <div className="min-w-0 flex-1">
          <TextField
            label="Workspace name"
            error={problem}
            value={name}
            disabled={!isAllowed}
            onChange={setName}
          />
        </div>
        <RoleButton needs="admin" type="submit" disabled={!isChanged} busy={save.isPending}>
          Rename
        </RoleButton>
      </form>
    </Section>
  );
}

function KeyExpiry({ workspace }: { workspace: Workspace }) {
  const save = useWorkspaceChange(workspace);
  const isAllowed = useCan()("admin");
  return (
    <Section title="API keys" hint="Applies to new keys; existing ones keep working.">
      <Checkbox
        label="Require an expiry date"
        title={isAllowed ? undefined : ONLY.admin}
        checked={workspace.requireKeyExpiry}
        disabled={!isAllowed || save.isPending}
        onChange={(event) => save.mutate({ requireKeyExpiry: event.target.checked })}
      />
    </Section>
  );
}

function Default({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient();
  const { data: profile } = useProfile();
  const isDefault = profile?.defaultWorkspaceId === workspace.id;
  const choose = useMutation({
    mutationFn: () =>
      unwrap(api.PUT("/api/users/profile", { body: { defaultWorkspaceId: workspace.id } })),
    onSuccess: (changed) => {
      queries.setQueryData(profileQuery.queryKey, changed);
      toast("Saved.", "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <Section title="Your default" hint="The workspace that opens after you sign in.">
      {isDefault ? (
        <p>This is your default workspace.</p>
      ) : (
        <Button busy={choose.isPending} onClick={() => choose.mutate()}>
          Make it my default
        </Button>
      )}
    </Section>
  );
}
