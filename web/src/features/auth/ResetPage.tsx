import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { useUrl } from "@/lib/url";
import { AuthForm, AuthFrame, aboutField, FormError, Notice } from "@/ui/AuthFrame";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";

export default function ResetPage() {
  const { token } = useUrl();
  const [password, setPassword] = useState("");
  const reset = useMutation({
    mutationFn: () =>
      unwrap(api.POST("/api/auth/reset-password", { body: { token: token ?? "", password } })),
  });
  const footer = (
    <Link
      to={token && !reset.error ? "/login" : "/forgot-password"}
      className="text-accent hover:underline"
    >
      {token && !reset.error ? "Back to sign in" : "Request a new link"}
    </Link>
  );
  return (
    <AuthFrame title="Set a new password" footer={footer}>
      {!token && <Notice>The link is incomplete. Open it directly from the e-mail.</Notice>}
      {reset.isSuccess && <Notice>Password changed. Sign in with the new one.</Notice>}
      {token && !reset.isSuccess && (
        <AuthForm onSubmit={() => reset.mutate()}>
          <FormError error={reset.error} />
          <TextField
            label="New password"
            hint="At least 8 characters, not a common password"
            error={aboutField(reset.error, "password")}
            type="password"
            autoComplete="new-password"
            value={password}
            onChange={setPassword}
          />
          <Button kind="primary" type="submit" busy={reset.isPending} disabled={!password}>
            Set password
          </Button>
        </AuthForm>
      )}
    </AuthFrame>
  );
}
