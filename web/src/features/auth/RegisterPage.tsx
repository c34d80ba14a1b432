import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, unwrap } from "@/lib/api";
import { session } from "@/lib/session";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { AuthForm, AuthFrame, aboutField, FormError, Notice } from "./AuthFrame";

/** Creates the account and signs in; null when the e-mail address must be verified first. */
async function register(body: { email: string; password: string; name?: string }) {
  await unwrap(api.POST("/api/auth/register", { body }));
  try {
    return await unwrap(api.POST("/api/auth/login", { body }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null;
    throw error;
  }
}

export default function RegisterPage() {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const created = useMutation({
    mutationFn: () => register({ email, password, ...(name && { name }) }),
    onSuccess: (answer) => {
      if (!answer) return;
      session.start(answer.token);
      void navigate({ to: "/start", search: { fresh: "1" } as never });
    },
  });
  if (created.isSuccess && !created.data) {
    return (
      <AuthFrame title="Check your e-mail">
        <Notice>We sent an e-mail to {email}. Open its link, then sign in.</Notice>
      </AuthFrame>
    );
  }
  return (
    <AuthFrame
      title="Create an account"
      footer={
        <>
          Already have an account?{" "}
          <Link to="/login" className="text-accent underline">
            Sign in
          </Link>
        </>
      }
    >
      <AuthForm onSubmit={() => created.mutate()}>
        <FormError error={created.error} />
        <TextField
          label="Name"
          hint="Optional"
          error={aboutField(created.error, "name")}
          autoComplete="name"
          value={name}
          onChange={setName}
        />
        <TextField
          label="E-mail"
          error={aboutField(created.error, "email")}
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
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
        <Button
          kind="primary"
          type="submit"
          busy={created.isPending}
          disabled={!email || !password}
        >
          Create account
        </Button>
      </AuthForm>
    </AuthFrame>
  );
}
