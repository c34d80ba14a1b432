import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { AuthField, AuthForm } from "@/ui/AuthForm";
import { AuthFrame, Notice } from "@/ui/AuthFrame";

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
        <AuthForm change={request} submit="Send link" isComplete={email !== ""}>
          <AuthField
            kind="email"
            hint="We send you a link to reset your password."
            error={request.error}
            value={email}
            onChange={setEmail}
          />
        </AuthForm>
      )}
    </AuthFrame>
  );
}
