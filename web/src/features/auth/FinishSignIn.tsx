import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, unwrap } from "@/lib/api";
import { session } from "@/lib/session";
import { useUrl } from "@/lib/url";
import { AuthFrame, FormError } from "@/ui/AuthFrame";
import { Skeleton } from "@/ui/states";
import { safePath } from "./safePath";

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
