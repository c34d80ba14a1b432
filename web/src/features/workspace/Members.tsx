/** Members with their roles, and invitations. */
import type { Workspace } from "@/lib/api";
import { useMembers } from "@/lib/queries";
import { includesRole } from "@/lib/roles";
import { ErrorState, SkeletonRows } from "@/ui/states";
import { Invitations } from "./Invitations";
import { InviteForm } from "./InviteForm";
import { MemberRow } from "./MemberRow";

export function Members({ workspace }: { workspace: Workspace }) {
  const { data: members, error, refetch, isPending } = useMembers();
  const isAdmin = includesRole(workspace.role, "admin");
  return (
    <>
      {isAdmin && <InviteForm workspace={workspace} />}
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={4} />}
      <ul aria-label="Members">
        {members?.map((member) => (
          <MemberRow key={member.userId} member={member} workspace={workspace} />
        ))}
      </ul>
      {isAdmin && <Invitations workspace={workspace} />}
    </>
  );
}
