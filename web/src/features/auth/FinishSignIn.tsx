import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { startSession } from "@/lib/signIn";
import { useUrl } from "@/lib/url";
import { AuthFrame, FormError } from "@/ui/AuthFrame";
import { Skeleton } from "@/ui/states";
import { safePath } from "./safePath";

/** Where single sign-on ends: the service has set the cookie. */
export function FinishSignIn() {
  const { next } = useUrl();
  const router = useRouter();
  const { isSuccess, error } = useQuery({
    queryKey: ["finish-sign-in"],
    queryFn: () => startSession().then(() => true),
    gcTime: 0,
  });
  useEffect(() => {
    if (isSuccess) router.history.replace(safePath(next));
  }, [isSuccess, next, router]);
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
