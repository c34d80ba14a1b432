/** Single sign-on: the link to the provider, and the way back. */
import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, unwrap } from "@/lib/api";
import { session } from "@/lib/session";
import { stringifySearch, useUrl } from "@/lib/url";
import { AuthFrame, FormError } from "@/ui/AuthFrame";
import { cx } from "@/ui/cx";
import { Skeleton } from "@/ui/states";
import { safePath } from "./safePath";

interface Props {
  name: string;
  /** There is no other way to sign in. */
  isOnly: boolean;
}

export function SingleSignOnLink({ name, isOnly }: Props) {
  const { next, invitation } = useUrl();
  return (
    <>
      <a
        href={`/api/auth/oidc/start${stringifySearch({ next, invitation })}`}
        className={cx(
          "flex h-8 items-center justify-center rounded-md px-2.5",
          isOnly
            ? "bg-accent font-medium text-on-accent hover:brightness-110"
            : "border border-line-strong bg-surface hover:bg-hover",
        )}
      >
        Continue with {name}
      </a>
      {!isOnly && (
        <div className="my-4 flex items-center gap-3 text-sm text-muted">
          <hr className="flex-1" />
          or
          <hr className="flex-1" />
        </div>
      )}
    </>
  );
}

/** Exchanges the cookie of a finished sign-in for a token. */
export function FinishSignIn() {
  const { next } = useUrl();
  const router = useRouter();
  // The cookie works once, so the request is never repeated.
  const { data, error } = useQuery({
    queryKey: ["finish-sign-in"],
    queryFn: () => unwrap(api.POST("/api/auth/oidc/token")),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  useEffect(() => {
    if (!data) return;
    session.start(data.token);
    router.history.replace(safePath(next));
  }, [data, next, router]);
  return (
    <AuthFrame title="Signing in">
      <FormError error={error} />
      {error ? (
        <Link to="/login" className="mt-4 inline-block text-accent hover:underline">
          Back to sign in
        </Link>
      ) : (
        <Skeleton className="h-9" />
      )}
    </AuthFrame>
  );
}
