import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "@/lib/api";
import { register } from "@/lib/signIn";
import { AuthField, AuthForm } from "@/ui/AuthForm";
import { Notice } from "@/ui/AuthFrame";
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
    <AuthForm change={created} submit="Create account and join" isComplete={password !== ""}>
      <AuthField
        kind="email"
        error={created.error}
        readOnly
        className="text-muted"
        value={email}
        onChange={() => undefined}
      />
      <AuthField kind="name" error={created.error} autoFocus value={name} onChange={setName} />
      <AuthField kind="newPassword" error={created.error} value={password} onChange={setPassword} />
    </AuthForm>
  );
}
