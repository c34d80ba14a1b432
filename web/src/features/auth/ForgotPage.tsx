import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { AuthForm, AuthFrame, aboutField, FormError, Notice } from "@/ui/AuthFrame";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";

export default function ForgotPage() {
  const [email, setEmail] = useState("");
  const request = useMutation({
    mutationFn: () => unwrap(api.POST("/api/auth/forgot-password", { body: { email } })),
  });
  return (
    <AuthFrame
      title="Forgot your password?"
      footer={
        <Link to="/login" className="text-accent hover:underline">
          Back to sign in
        </Link>
      }
    >
      {request.isSuccess ? (
        <Notice>
          If {email} has an account, we sent it a link that works for one hour. Without a mail
          server, the message is in the service's outbox folder.
        </Notice>
      ) : (
        <AuthForm onSubmit={() => request.mutate()}>
          <FormError error={request.error} />
          <TextField
            label="E-mail"
            hint="We send you a link to reset your password."
            error={aboutField(request.error, "email")}
            type="email"
            autoComplete="username"
            value={email}
            onChange={setEmail}
          />
          <Button kind="primary" type="submit" busy={request.isPending} disabled={!email}>
            Send link
          </Button>
        </AuthForm>
      )}
    </AuthFrame>
  );
}
