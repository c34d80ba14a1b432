import { useQuery } from "@tanstack/react-query";
import { api, unwrapPage } from "./api";
import { useMembers, useProfile } from "./queries";

/** Returns a function that names who did something: a member, a key or the service. */
export function usePersonName(): (by: string) => string {
  const { data: me } = useProfile();
  const { data: members } = useMembers();
  const { data: keys } = useQuery({
    queryKey: ["keys"],
    queryFn: () => unwrapPage(api.GET("/api/keys", { params: { query: { limit: 100 } } })),
    staleTime: 60_000,
  });
  return (by) => {
    if (by === "spanwise") return "Spanwise";
    if (by === me?.id) return "You";
    const key = keys?.items.find((one) => one.id === by);
    return key ? `key “${key.name}”` : (members?.find((one) => one.userId === by)?.name ?? by);
  };
}
