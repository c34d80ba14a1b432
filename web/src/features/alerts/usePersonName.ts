import { useMembers, useProfile } from "@/lib/queries";

/** Returns a function that names who did something: a member, a key or the service. */
export function usePersonName(): (by: string) => string {
  const { data: me } = useProfile();
  const { data: members } = useMembers();
  return (by) => {
    if (by === "spanwise") return "Spanwise";
    if (by === me?.id) return "You";
    return members?.find((one) => one.userId === by)?.name ?? by;
  };
}
