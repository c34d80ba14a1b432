import { useMutation } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, unwrap } from "@/lib/api";
import { session } from "@/lib/session";
import { useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { AuthForm, AuthFrame, aboutField, FormError, Notice } from "./AuthFrame";
import { safePath } from "./safePath";

export default function LoginPage() {
  const { next, ended } = useUrl();
  const router = useRouter();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const login = useMutation({
    mutationFn: () => unwrap(api.POST("/api/auth/login", { body: { email, password } })),
    onSuccess: ({ token }) => {
      session.start(token);
      router.history.push(safePath(next));
    },
  });
  return (
    <AuthFrame
      title="Sign in"
      footer={
        <div className="flex justify-between">
          <Link to="/register" className="text-accent hover:underline">
            Create an account
          </Link>
          <Link to="/forgot-password" className="text-accent hover:underline">
            Forgot your password?
          </Link>
        </div>
      }
    >
      <AuthForm onSubmit={() => login.mutate()}>
        {ended && !login.error && <Notice>Your session has ended. Sign in to continue.</Notice>}
        <FormError error={login.error} />
        <TextField
          label="E-mail"
          error={aboutField(login.error, "email")}
          type="email"
          autoComplete="username"
          autoFocus
          value={email}
          onChange={setEmail}
        />
        <TextField
          label="Password"
          error={aboutField(login.error, "password")}
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
        />
        <Button kind="primary" type="submit" busy={login.isPending} disabled={!email || !password}>
          Sign in
        </Button>
        {login.error instanceof ApiError && login.error.status === 403 && <Resend email={email} />}
      </AuthForm>
    </AuthFrame>
  );
}

/** For users whose e-mail address is not verified yet. */
function Resend({ email }: { email: string }) {
  const resend = useMutation({
    mutationFn: () => unwrap(api.POST("/api/auth/resend-verification", { body: { email } })),
  });
  if (resend.isSuccess) return <Notice>We sent a new verification e-mail.</Notice>;
  return (
    <Button onClick={() => resend.mutate()} busy={resend.isPending}>
      Resend the verification e-mail
    </Button>
  );
}
