import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, unwrap } from "@/lib/api";
import { useUrl } from "@/lib/url";
import { AuthFrame, FormError, Notice } from "@/ui/AuthFrame";
import { Skeleton } from "@/ui/states";

export default function VerifyPage() {
  const token = useUrl().token ?? "";
  // The link works once, so the request is never repeated.
  const verified = useQuery({
    queryKey: ["verify", token],
    queryFn: () => unwrap(api.GET("/api/auth/verify-email", { params: { query: { token } } })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <AuthFrame
      title="Verify your e-mail"
      footer={
        <Link to="/" className="text-accent hover:underline">
          Go to the dashboard
        </Link>
      }
    >
      {verified.isPending && <Skeleton className="h-9" />}
      {verified.isSuccess && <Notice>{verified.data.email} is verified.</Notice>}
      <FormError error={verified.error} />
    </AuthFrame>
  );
}
