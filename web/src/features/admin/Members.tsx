import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { useProfile } from "@/lib/queries";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Select } from "@/ui/Field";
import { ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";

type Member = Schemas["AdminUser"];

export function Members() {
  const { data, error, refetch, isPending } = useQuery({
    queryKey: ["admin", "users"],
    queryFn: () => unwrapPage(api.GET("/api/admin/users", { params: { query: { limit: 100 } } })),
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isPending) return <SkeletonRows rows={4} />;
  return (
    <ul aria-label="Accounts">
      {data.items.map((member) => (
        <Row key={member.id} member={member} />
      ))}
    </ul>
  );
}

function Row({ member }: { member: Member }) {
  const queries = useQueryClient();
  const { data: me } = useProfile();
  const isMe = member.id === me?.id;
  const change = useMutation({
    mutationFn: (body: Schemas["UserChange"]) =>
      unwrap(api.PUT("/api/admin/users/{id}", { params: { path: { id: member.id } }, body })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["admin"] });
      toast("Saved.", "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-3.5 py-2 last:border-0">
      <span className="min-w-0 flex-1 basis-56 max-sm:basis-full">
        <span className="flex items-center gap-2">
          <span className="truncate font-medium">{member.name}</span>
          {isMe && <Badge>you</Badge>}
          {member.disabled && <Badge tone="bad">disabled</Badge>}
          {!member.emailVerified && <Badge tone="warning">not verified</Badge>}
        </span>
        <span className="block truncate text-sm text-muted">{member.email}</span>
      </span>
      <span className="text-sm text-muted max-sm:flex-1 sm:w-40">
        {member.lastLoginAt ? (
          <>
            Signed in <Time at={member.lastLoginAt} />
          </>
        ) : (
          "Never signed in"
        )}
      </span>
      <Select
        aria-label={`Role of ${member.email}`}
        value={member.role}
        disabled={isMe || change.isPending}
        onChange={(role) => change.mutate({ role: role as Member["role"] })}
        options={["member", "admin"]}
      />
      <Button
        size="small"
        kind={member.disabled ? "plain" : "danger"}
        disabled={isMe}
        busy={change.isPending}
        className="w-20"
        onClick={() => change.mutate({ disabled: !member.disabled })}
      >
        {member.disabled ? "Enable" : "Disable"}
      </Button>
    </li>
  );
}
