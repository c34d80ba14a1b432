import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "@/lib/api";
import { register } from "@/lib/signIn";
import { AuthForm, aboutField, FormError, Notice } from "@/ui/AuthFrame";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { useOpenWorkspace } from "./useOpenWorkspace";

interface Props {
  token: string;
  invitation: Schemas["InvitationPreview"];
}

/** The form for people without an account: the new one, of this address, accepts the invitation. */
export function RegisterInvited({ token, invitation }: Props) {
  const { email, workspaceId } = invitation;
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const open = useOpenWorkspace();
  const created = useMutation({
    mutationFn: () => register({ email, password, name: name.trim() || null, invitation: token }),
    onSuccess: (isSignedIn) => isSignedIn && open(workspaceId),
  });
  if (created.isSuccess && !created.data) {
    return <Notice>We sent an e-mail to {email}. Open its link, then sign in.</Notice>;
  }
  return (
    <AuthForm onSubmit={() => created.mutate()}>
      <FormError error={created.error} />
      <TextField
        label="E-mail"
        error={aboutField(created.error, "email")}
        type="email"
        autoComplete="username"
        readOnly
        className="text-muted"
        value={email}
        onChange={() => undefined}
      />
      <TextField
        label="Name"
        hint="Optional"
        error={aboutField(created.error, "name")}
        autoComplete="name"
        autoFocus
        value={name}
        onChange={setName}
      />
      <TextField
        label="Password"
        hint="At least 8 characters, not a common password"
        error={aboutField(created.error, "password")}
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <Button kind="primary" type="submit" busy={created.isPending} disabled={!password}>
        Create account and join
      </Button>
    </AuthForm>
  );
}
