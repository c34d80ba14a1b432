/** The key of a first application: ingest-only, for the current workspace. */
import { type UseMutationResult, useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, unwrap } from "@/lib/api";
import { useMembers, useWorkspace } from "@/lib/queries";
import { includesRole } from "@/lib/roles";
import { useWorkspaceId } from "@/lib/workspace";
import { Button } from "@/ui/Button";

/** The lifetime of the key in a workspace that requires an expiry. */
export const EXPIRY_DAYS = 90;

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

type Secret = Schemas["ApiKeyWithSecret"];

export function useFreshKey() {
  // The secret is returned once; a reload of this tab must not lose it.
  const kept = `spanwise.fresh-key.${useWorkspaceId()}`;
  const [secret, setSecret] = useState(sessionStorage.getItem(kept));
  const mustExpire = useWorkspace()?.requireKeyExpiry;
  const created = useMutation({
    mutationFn: () => {
      const expiresAt = mustExpire ? inDays(EXPIRY_DAYS) : null;
      const body = { name: "First application", scopes: ["ingest" as const], expiresAt };
      return unwrap(api.POST("/api/keys", { body }));
    },
    onSuccess: ({ key }) => {
      sessionStorage.setItem(kept, key);
      setSecret(key);
    },
  });
  return { secret, created };
}

export function CreateKey({ created }: { created: UseMutationResult<Secret, Error, void> }) {
  return (
    <div className="mb-2 flex items-center gap-3">
      <Button kind="primary" busy={created.isPending} onClick={() => created.mutate()}>
        Create key
      </Button>
      <span className="text-sm text-muted">
        {created.error?.message ?? "Ingest-only key. Shown once."}
      </span>
    </div>
  );
}

/** For members who may not create keys. */
export function AskAdmin() {
  const { data: members } = useMembers();
  const admins = members?.filter((one) => includesRole(one.role, "admin") && !one.disabled) ?? [];
  const names = admins.slice(0, 3).map((one) => `${one.name} (${one.email})`);
  return (
    <p className="mb-2 text-muted">
      You need an API key, which only admins create. Ask {names.join(" or ") || "an admin"} for an
      ingest-only key.
    </p>
  );
}
