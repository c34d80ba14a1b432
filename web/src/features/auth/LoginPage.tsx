import { useMutation } from "@tanstack/react-query";
import { Link, Navigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, unwrap } from "@/lib/api";
import { useSignInOptions } from "@/lib/queries";
import { signIn } from "@/lib/signIn";
import { useUrl } from "@/lib/url";
import { AuthField, AuthForm } from "@/ui/AuthForm";
import { AuthFrame, FormError, Notice } from "@/ui/AuthFrame";
import { Button } from "@/ui/Button";
import { SingleSignOnLink } from "@/ui/SingleSignOnLink";
import { Skeleton } from "@/ui/states";
import { FinishSignIn } from "./FinishSignIn";
import { refusalText } from "./refusals";
import { safePath } from "./safePath";

export default function LoginPage() {
  return useUrl().signedIn ? <FinishSignIn /> : <SignIn />;
}

function SignIn() {
  const { error, ended, next, invitation } = useUrl();
  const { data: options, isPending } = useSignInOptions();
  const hasPasswords = options?.passwordLogin ?? true;
  const provider = options?.singleSignOn;
  if (options && !options.hasAccounts && hasPasswords && !error) {
    return <Navigate to="/register" search={{ next, invitation }} replace />;
  }
  return (
    <AuthFrame
      title="Sign in"
      footer={
        options && hasPasswords && <SignInAlternatives mayRegister={options.openRegistration} />
      }
    >
      <div className="mb-3.5 flex flex-col gap-3.5 empty:hidden">
        {error && <FormError error={new Error(refusalText(error))} />}
        {ended && <Notice>Your session has ended. Sign in to continue.</Notice>}
      </div>
      {isPending && <Skeleton className="h-44" />}
      {provider && (
        <SingleSignOnLink {...{ name: provider.name, isOnly: !hasPasswords, next, invitation }} />
      )}
      {!isPending && hasPasswords && <PasswordForm />}
    </AuthFrame>
  );
}

function SignInAlternatives({ mayRegister }: { mayRegister: boolean }) {
  return (
    <div className="flex justify-between">
      {mayRegister && (
        <Link to="/register" className="text-accent hover:underline">
          Create an account
        </Link>
      )}
      <Link to="/forgot-password" className="text-accent hover:underline">
        Forgot your password?
      </Link>
    </div>
  );
}

function PasswordForm() {
  const { next } = useUrl();
  const router = useRouter();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const login = useMutation({
    mutationFn: () => signIn({ email, password }),
    onSuccess: () => router.history.push(safePath(next)),
  });
  return (
    <AuthForm
      change={login}
      submit="Sign in"
      isComplete={email !== "" && password !== ""}
      more={
        login.error instanceof ApiError && login.error.status === 403 && <Resend email={email} />
      }
    >
      <AuthField kind="email" error={login.error} autoFocus value={email} onChange={setEmail} />
      <AuthField kind="password" error={login.error} value={password} onChange={setPassword} />
    </AuthForm>
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
