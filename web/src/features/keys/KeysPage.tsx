/** API keys: create, rotate, revoke and delete. A secret is shown once. */
import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { api, unwrapPage } from "@/lib/api";
import { useWorkspace } from "@/lib/queries";
import { useCan } from "@/lib/roles";
import { useUrlState } from "@/lib/url";
import { Button } from "@/ui/Button";
import { PageBody } from "@/ui/Panel";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { NewKeyDialog, SecretDialog } from "./dialogs";
import { KeyRow } from "./KeyRow";
import type { Secret } from "./useKeys";

export default function KeysPage() {
  const [dialog, setDialog] = useUrlState("new", "");
  const [secret, setSecret] = useState<Secret | null>(null);
  const workspace = useWorkspace();
  const isAdmin = useCan()("admin");
  const list = useQuery({
    queryKey: ["keys"],
    queryFn: () => unwrapPage(api.GET("/api/keys", { params: { query: { limit: 100 } } })),
  });
  const create = (
    <Button kind="primary" icon={<Plus className="size-4" />} onClick={() => setDialog("1")}>
      New key
    </Button>
  );
  return (
    <PageBody
      title={
        <>
          API keys <span className="font-normal text-muted">{workspace?.name}</span>
        </>
      }
      actions={
        isAdmin ? create : <span className="text-sm text-muted">Only admins manage keys</span>
      }
    >
      <div className="overflow-hidden rounded-lg border bg-surface">
        {list.isPending && <SkeletonRows rows={4} />}
        {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.data?.items.length === 0 && (
          <EmptyState
            icon={<KeyRound className="size-6" />}
            title="No API keys yet"
            action={isAdmin && create}
          >
            Applications need a key to send traces. A key is shown once and stored as a hash.
          </EmptyState>
        )}
        <ul aria-label="Keys" className="@container">
          {list.data?.items.map((key) => (
            <KeyRow key={key.id} apiKey={key} isAdmin={isAdmin} onSecret={setSecret} />
          ))}
        </ul>
      </div>
      {isAdmin && dialog !== "" && (
        <NewKeyDialog
          requiresExpiry={workspace?.requireKeyExpiry ?? false}
          onClose={() => setDialog("")}
          onSecret={(created) => {
            setDialog("");
            setSecret(created);
          }}
        />
      )}
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </PageBody>
  );
}
