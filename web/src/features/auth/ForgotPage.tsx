import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { AuthForm, AuthFrame, aboutField, FormError, Notice } from "./AuthFrame";

export default function ForgotPage() {
  const [email, setEmail] = useState("");
  const asked = useMutation({
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
      {asked.isSuccess ? (
        <Notice>
          If {email} has an account, a mail with a link is on its way. The link works for one hour.
          Without a mail server the message lies in the service's outbox folder.
        </Notice>
      ) : (
        <AuthForm onSubmit={() => asked.mutate()}>
          <FormError error={asked.error} />
          <TextField
            label="E-mail"
            hint="We send you a link to set a new one."
            error={aboutField(asked.error, "email")}
            type="email"
            autoComplete="username"
            value={email}
            onChange={setEmail}
          />
          <Button kind="primary" type="submit" busy={asked.isPending} disabled={!email}>
            Send the link
          </Button>
        </AuthForm>
      )}
    </AuthFrame>
  );
}
