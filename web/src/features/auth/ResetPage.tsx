import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { useUrl } from "@/lib/url";
import { AuthField, AuthForm } from "@/ui/AuthForm";
import { AuthFrame, Notice } from "@/ui/AuthFrame";

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
        <AuthForm change={reset} submit="Set password" isComplete={password !== ""}>
          <AuthField
            kind="newPassword"
            label="New password"
            error={reset.error}
            value={password}
            onChange={setPassword}
          />
        </AuthForm>
      )}
    </AuthFrame>
  );
}
