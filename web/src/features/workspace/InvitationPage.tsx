/** What the holder of an invitation link sees, signed in or not. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { ApiError, api, type Schemas, unwrap } from "@/lib/api";
import { useProfile, useSignInOptions } from "@/lib/queries";
import { session, useIsSignedIn } from "@/lib/session";
import { signOut } from "@/lib/signIn";
import { useUrl } from "@/lib/url";
import { AuthFrame, FormError, Notice } from "@/ui/AuthFrame";
import { Button } from "@/ui/Button";
import { SingleSignOnLink } from "@/ui/SingleSignOnLink";
import { ErrorState, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { RegisterInvited } from "./RegisterInvited";
import { useOpenWorkspace } from "./useOpenWorkspace";

type Preview = Schemas["InvitationPreview"];

export default function InvitationPage() {
  const token = useUrl().token ?? "";
  const preview = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => unwrap(api.GET("/api/invitations/preview", { params: { query: { token } } })),
    // Accepting uses the link up; the page must not turn into an error before it is left.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (preview.error instanceof ApiError && preview.error.status === 400) return <BrokenLink />;
  const invitation = preview.data;
  return (
    <AuthFrame title={invitation ? `Join ${invitation.workspaceName}` : "Invitation"}>
      {invitation ? (
        <>
          <p className="mb-4 text-muted">
            {invitation.invitedBy ?? "A colleague"} invited {invitation.email} to the workspace “
            {invitation.workspaceName}” as {invitation.role}. The link works until{" "}
            <Time at={invitation.expiresAt} as="short" />.
          </p>
          <Answer token={token} invitation={invitation} />
        </>
      ) : preview.error ? (
        <ErrorState error={preview.error} onRetry={() => void preview.refetch()} />
      ) : (
        <Skeleton className="h-40" />
      )}
    </AuthFrame>
  );
}

function BrokenLink() {
  const isSignedIn = useIsSignedIn();
  return (
    <AuthFrame
      title="This invitation is no longer valid"
      footer={
        <Link to={isSignedIn ? "/" : "/login"} className="text-accent hover:underline">
          {isSignedIn ? "Go to the dashboard" : "Sign in"}
        </Link>
      }
    >
      <Notice>
        The link was already used, withdrawn or has expired. Ask the person who invited you for a
        new one.
      </Notice>
    </AuthFrame>
  );
}

interface AnswerProps {
  token: string;
  invitation: Preview;
}

function Answer({ token, invitation }: AnswerProps) {
  const isSignedIn = useIsSignedIn();
  return isSignedIn ? (
    <SignedIn token={token} invitation={invitation} />
  ) : (
    <SignedOut token={token} invitation={invitation} />
  );
}

function SignedOut({ token, invitation }: AnswerProps) {
  const { data: options, error, refetch } = useSignInOptions();
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!options) return <Skeleton className="h-40" />;
  const { singleSignOn: provider, passwordLogin } = options;
  return (
    <>
      {provider && (
        <SingleSignOnLink
          name={provider.name}
          isOnly={!passwordLogin}
          next={`/?ws=${invitation.workspaceId}`}
          invitation={token}
        />
      )}
      {passwordLogin && invitation.hasAccount && <SignInFirst email={invitation.email} />}
      {passwordLogin && !invitation.hasAccount && (
        <RegisterInvited token={token} invitation={invitation} />
      )}
    </>
  );
}

function SignedIn({ token, invitation }: AnswerProps) {
  const { data: profile, error, refetch } = useProfile();
  const open = useOpenWorkspace();
  const accept = useMutation({
    mutationFn: () => unwrap(api.POST("/api/invitations/accept", { body: { token } })),
    onSuccess: (workspace) => open(workspace.id),
  });
  const leave = useMutation({ mutationFn: signOut, onSuccess: () => session.end() });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!profile) return <Skeleton className="h-8" />;
  if (profile.email !== invitation.email) {
    return (
      <div className="flex flex-col items-start gap-3.5">
        <Notice>
          You are signed in as {profile.email}. Sign out to answer the invitation of{" "}
          {invitation.email}.
        </Notice>
        <FormError error={leave.error} />
        <Button busy={leave.isPending} onClick={() => leave.mutate()}>
          Sign out
        </Button>
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-3.5">
      <FormError error={accept.error} />
      <Button kind="primary" busy={accept.isPending} onClick={() => accept.mutate()}>
        Accept invitation
      </Button>
    </div>
  );
}

function SignInFirst({ email }: { email: string }) {
  const { history } = useRouter();
  const next = encodeURIComponent(history.location.href);
  return (
    <div className="flex flex-col gap-3.5">
      <Notice>{email} has an account. Sign in with it to accept.</Notice>
      <Button kind="primary" onClick={() => history.push(`/login?next=${next}`)}>
        Sign in
      </Button>
    </div>
  );
}
