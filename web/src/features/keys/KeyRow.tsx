import { RotateCw } from "lucide-react";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { Field, Select } from "@/ui/Field";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";
import { type Key, type Secret, useKeyChange } from "./useKeys";

const TONES: Record<Key["status"], Tone> = { active: "good", revoked: "bad", expired: "warning" };
const GRACES = [
  { value: "0", label: "immediately" },
  { value: "3600", label: "in an hour" },
  { value: "86400", label: "in a day" },
];

interface Props {
  apiKey: Key;
  isAdmin: boolean;
  onSecret: (secret: Secret) => void;
}

export function KeyRow({ apiKey, isAdmin, onSecret }: Props) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-3.5 py-2 last:border-0">
      <span className="min-w-0 flex-1 basis-48">
        <span className="block truncate font-medium">{apiKey.name}</span>
        <span className="block font-mono text-sm text-muted">{apiKey.prefix}…</span>
      </span>
      <span className="flex w-40 gap-1.5">
        <Badge tone={TONES[apiKey.status]}>{apiKey.status}</Badge>
        {apiKey.scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </span>
      <span className="flex gap-x-4 text-sm text-muted @2xl:@max-4xl:order-last @2xl:@max-4xl:basis-full">
        <span className="w-40 min-w-0">
          Created <Time at={apiKey.createdAt} />
          <span className="block truncate">by {apiKey.createdBy ?? "a deleted account"}</span>
        </span>
        <span className="w-36">
          {apiKey.lastUsedAt ? (
            <>
              Last used <Time at={apiKey.lastUsedAt} />
            </>
          ) : (
            "Never used"
          )}
          <span className="block">
            <Lifetime apiKey={apiKey} />
          </span>
        </span>
      </span>
      {isAdmin && <Controls apiKey={apiKey} onSecret={onSecret} />}
    </li>
  );
}

function Lifetime({ apiKey }: { apiKey: Key }) {
  if (apiKey.expiresAt) {
    return (
      <>
        Expires <Time at={apiKey.expiresAt} as="short" />
      </>
    );
  }
  if (!apiKey.rotatedAt) return "No expiry";
  return (
    <>
      Rotated <Time at={apiKey.rotatedAt} />
    </>
  );
}

function Controls({ apiKey, onSecret }: Omit<Props, "isAdmin">) {
  const [confirming, setConfirming] = useState<"rotate" | "revoke" | "delete" | null>(null);
  const [grace, setGrace] = useState("0");
  const params = { path: { id: apiKey.id } };
  const close = () => setConfirming(null);
  const rotate = useKeyChange(
    () =>
      unwrap(api.PUT("/api/keys/{id}/refresh", { params, body: { graceSeconds: Number(grace) } })),
    (created) => {
      close();
      onSecret(created);
    },
  );
  const revoke = useKeyChange(
    () => unwrap(api.POST("/api/keys/{id}/revoke", { params })),
    () => {
      close();
      toast("Key revoked.");
    },
  );
  const remove = useKeyChange(
    () => unwrap(api.DELETE("/api/keys/{id}", { params })),
    () => {
      close();
      toast("Deleted.");
    },
  );
  const isActive = apiKey.status === "active";
  return (
    <>
      <span className="flex gap-1.5 md:w-56 md:justify-end">
        {isActive && (
          <>
            <Button
              size="small"
              icon={<RotateCw className="size-3.5" />}
              onClick={() => setConfirming("rotate")}
            >
              Rotate
            </Button>
            <Button size="small" kind="danger" onClick={() => setConfirming("revoke")}>
              Revoke
            </Button>
          </>
        )}
        <Button size="small" kind="danger" onClick={() => setConfirming("delete")}>
          Delete
        </Button>
      </span>
      <ConfirmDialog
        isOpen={confirming === "rotate"}
        onClose={close}
        title={`Rotate ${apiKey.name}`}
        action="Rotate"
        isBusy={rotate.isPending}
        onConfirm={() => rotate.mutate()}
      >
        <Field
          label="The old secret stops working"
          hint="Gives running applications time to switch to the new secret"
        >
          {(props) => (
            <Select
              {...props}
              className="w-full max-w-none"
              value={grace}
              onChange={setGrace}
              options={GRACES}
            />
          )}
        </Field>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={confirming === "revoke"}
        onClose={close}
        title={`Revoke ${apiKey.name}?`}
        action="Revoke"
        isDangerous
        isBusy={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      >
        Requests with this key are rejected immediately. This cannot be undone.
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={confirming === "delete"}
        onClose={close}
        title={`Delete ${apiKey.name}?`}
        action="Delete"
        isDangerous
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        {isActive
          ? "The key stops working immediately and is removed from the list."
          : "The key is removed from the list."}
      </ConfirmDialog>
    </>
  );
}
