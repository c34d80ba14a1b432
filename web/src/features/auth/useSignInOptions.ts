import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api";

/** What the installation offers: passwords, registration, single sign-on. */
export function useSignInOptions() {
  return useQuery({
    queryKey: ["sign-in-options"],
    queryFn: () => unwrap(api.GET("/api/auth/options")),
  });
}
