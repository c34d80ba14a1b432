import { useMutation } from "@tanstack/react-query";
import { Link, Navigate, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useSignInOptions } from "@/lib/queries";
import { register } from "@/lib/signIn";
import { useUrl } from "@/lib/url";
import { AuthField, AuthForm } from "@/ui/AuthForm";
import { AuthFrame, Notice } from "@/ui/AuthFrame";
import { SingleSignOnLink } from "@/ui/SingleSignOnLink";
import { Skeleton } from "@/ui/states";

export default function RegisterPage() {
  const { next, invitation } = useUrl();
  const [waitsFor, setWaitsFor] = useState("");
  const { data: options, isPending } = useSignInOptions();
  if (options && !options.passwordLogin) return <Navigate to="/login" replace />;
  if (waitsFor) {
    return (
      <AuthFrame title="Check your e-mail">
        <Notice>We sent an e-mail to {waitsFor}. Open its link, then sign in.</Notice>
      </AuthFrame>
    );
  }
  const isFirst = options?.hasAccounts === false;
  const isClosed = options?.hasAccounts === true && !options.openRegistration;
  const provider = options?.singleSignOn;
  return (
    <AuthFrame
      title={isFirst ? "Create the first account" : "Create an account"}
      footer={!isFirst && <ToSignIn />}
    >
      {isPending && <Skeleton className="h-60" />}
      {isFirst && <p className="mb-4 text-muted">This account will administer the installation.</p>}
      {isClosed && (
        <Notice>Registration is closed. Ask an administrator or a colleague to invite you.</Notice>
      )}
      {!isClosed && provider && (
        <SingleSignOnLink {...{ name: provider.name, isOnly: false, next, invitation }} />
      )}
      {!isClosed && !isPending && <RegistrationForm onVerify={setWaitsFor} />}
    </AuthFrame>
  );
}

function ToSignIn() {
  return (
    <>
      Already have an account?{" "}
      <Link to="/login" className="text-accent underline">
        Sign in
      </Link>
    </>
  );
}

function RegistrationForm({ onVerify }: { onVerify: (email: string) => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const created = useMutation({
    mutationFn: () => register({ email, password, ...(name && { name }) }),
    onSuccess: (isSignedIn) => {
      if (isSignedIn) void navigate({ to: "/start", search: { fresh: "1" } });
      else onVerify(email);
    },
  });
  return (
    <AuthForm change={created} submit="Create account" isComplete={email !== "" && password !== ""}>
      <AuthField kind="name" error={created.error} value={name} onChange={setName} />
      <AuthField kind="email" error={created.error} value={email} onChange={setEmail} />
      <AuthField kind="newPassword" error={created.error} value={password} onChange={setPassword} />
    </AuthForm>
  );
}
