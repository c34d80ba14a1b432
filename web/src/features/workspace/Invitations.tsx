import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, unwrap, unwrapPage, type Workspace } from "@/lib/api";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";

/** The open invitations. */
export function Invitations({ workspace }: { workspace: Workspace }) {
  const path = { workspaceId: workspace.id };
  const { data, error, refetch, isPending } = useQuery({
    queryKey: ["invitations"],
    queryFn: () =>
      unwrapPage(
        api.GET("/api/workspaces/{workspaceId}/invitations", {
          params: { path, query: { limit: 100 } },
        }),
      ),
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isPending) return <SkeletonRows rows={2} />;
  if (data.items.length === 0) return null;
  return (
    <section className="border-t">
      <h2 className="px-3.5 pt-4 pb-1 font-medium">Open invitations</h2>
      <ul aria-label="Open invitations">
        {data.items.map((invitation) => (
          <Row key={invitation.id} invitation={invitation} workspace={workspace} />
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  invitation: Schemas["Invitation"];
  workspace: Workspace;
}

function Row({ invitation, workspace }: RowProps) {
  const queries = useQueryClient();
  const path = { workspaceId: workspace.id, invitationId: invitation.id };
  const withdraw = useMutation({
    mutationFn: () =>
      unwrap(
        api.DELETE("/api/workspaces/{workspaceId}/invitations/{invitationId}", {
          params: { path },
        }),
      ),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["invitations"] });
      toast("Invitation withdrawn.");
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-3.5 py-2 last:border-0">
      <span className="min-w-0 flex-1 basis-56">
        <span className="block truncate">{invitation.email}</span>
        <span className="block text-sm text-muted">
          {invitation.invitedBy ? `Invited by ${invitation.invitedBy} ` : "Invited "}
          <Time at={invitation.createdAt} />
        </span>
      </span>
      <span className="w-48 text-sm text-muted">
        Expires <Time at={invitation.expiresAt} as="short" />
      </span>
      <span className="flex w-24 md:justify-end">
        <Badge>{invitation.role}</Badge>
      </span>
      <Button
        size="small"
        kind="danger"
        busy={withdraw.isPending}
        aria-label={`Withdraw the invitation of ${invitation.email}`}
        onClick={() => withdraw.mutate()}
      >
        Withdraw
      </Button>
    </li>
  );
}
