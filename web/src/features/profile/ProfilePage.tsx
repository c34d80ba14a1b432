/** Your own account: name and password. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, type User, unwrap } from "@/lib/api";
import { profileQuery, useProfile, useSignInOptions } from "@/lib/queries";
import { session } from "@/lib/session";
import { useUnsaved } from "@/lib/unsaved";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CopyId } from "@/ui/Copy";
import { TextField } from "@/ui/Field";
import { PageBody, Panel } from "@/ui/Panel";
import { ErrorState, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";

export default function ProfilePage() {
  const { data: user, error, refetch } = useProfile();
  const { data: options } = useSignInOptions();
  return (
    <PageBody title="Profile" isNarrow>
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!user && !error && <Skeleton className="h-96" />}
      {user && (
        <div className="flex flex-col gap-3">
          <Account user={user} />
          {options?.passwordLogin && <Password />}
        </div>
      )}
    </PageBody>
  );
}

function Account({ user }: { user: User }) {
  const queries = useQueryClient();
  const [name, setName] = useState(user.name);
  const save = useMutation({
    mutationFn: () => unwrap(api.PUT("/api/users/profile", { body: { name: name.trim() } })),
    onSuccess: (changed) => {
      queries.setQueryData(profileQuery.queryKey, changed);
      toast("Saved.", "good");
    },
  });
  const isChanged = name.trim() !== user.name;
  useUnsaved(isChanged);
  const problem =
    save.error instanceof ApiError ? (save.error.about("name") ?? save.error.message) : undefined;
  return (
    <Panel title="Account">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TextField
          label="Name"
          error={problem}
          autoComplete="name"
          value={name}
          onChange={setName}
        />
        <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
          <dt className="text-muted">E-mail</dt>
          <dd className="flex flex-wrap items-center gap-2">
            {user.email}
            <Badge tone={user.emailVerified ? "good" : "warning"}>
              {user.emailVerified ? "verified" : "not verified"}
            </Badge>
          </dd>
          <dt className="text-muted">Installation role</dt>
          <dd>{user.role}</dd>
          <dt className="text-muted">Id</dt>
          <dd>
            <CopyId id={user.id} ends={30} />
          </dd>
          <dt className="text-muted">Created</dt>
          <dd>
            <Time at={user.createdAt} as="full" />
          </dd>
        </dl>
        <div>
          <Button
            kind="primary"
            type="submit"
            busy={save.isPending}
            disabled={!name.trim() || !isChanged}
          >
            Save
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function Password() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  // The browser may have filled in the current one.
  useUnsaved(next !== "");
  const change = useMutation({
    mutationFn: () =>
      unwrap(
        api.PUT("/api/users/password", { body: { currentPassword: current, newPassword: next } }),
      ),
    onSuccess: () => {
      // The cookie is new: a late refusal of the earlier one must not end the session.
      session.start();
      setCurrent("");
      setNext("");
      toast("Password changed. All other sessions are signed out.", "good");
    },
  });
  const about = (field: string) =>
    change.error instanceof ApiError ? change.error.about(field) : undefined;
  const other = change.error && !about("currentPassword") && !about("newPassword");
  return (
    <Panel title="Password">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        {other && (
          <p role="alert" className="text-bad">
            {change.error?.message}
          </p>
        )}
        <TextField
          label="Current password"
          error={about("currentPassword")}
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={setCurrent}
        />
        <TextField
          label="New password"
          hint="At least 8 characters; a few words work best"
          error={about("newPassword")}
          type="password"
          autoComplete="new-password"
          value={next}
          onChange={setNext}
        />
        <div>
          <Button type="submit" busy={change.isPending} disabled={!current || next.length < 8}>
            Change password
          </Button>
        </div>
      </form>
    </Panel>
  );
}
