import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, type Schemas, unwrap } from "@/lib/api";
import { session } from "@/lib/session";
import { AuthForm, aboutField, FormError, Notice } from "@/ui/AuthFrame";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { useOpenWorkspace } from "./useOpenWorkspace";

/** Creates the account, which accepts the invitation; null if the address must be verified. */
async function register(body: Schemas["Registration"]) {
  await unwrap(api.POST("/api/auth/register", { body }));
  const { email, password } = body;
  try {
    return await unwrap(api.POST("/api/auth/login", { body: { email, password } }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null;
    throw error;
  }
}

interface Props {
  token: string;
  invitation: Schemas["InvitationPreview"];
}

/** The form for people without an account; the address is that of the invitation. */
export function RegisterInvited({ token, invitation }: Props) {
  const { email, workspaceId } = invitation;
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const open = useOpenWorkspace();
  const created = useMutation({
    mutationFn: () => register({ email, password, name: name.trim() || null, invitation: token }),
    onSuccess: (answer) => {
      if (!answer) return;
      session.start(answer.token);
      open(workspaceId);
    },
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
