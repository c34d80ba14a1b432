/** Creating a key, and showing a new secret once. */
import { useState } from "react";
import { ApiError, api, unwrap } from "@/lib/api";
import { fromDayField } from "@/lib/timeZone";
import { Button } from "@/ui/Button";
import { CodeBlock } from "@/ui/CodeBlock";
import { Dialog } from "@/ui/Dialog";
import { Field, Select, TextField } from "@/ui/Field";
import { type Scope, type Secret, useKeyChange } from "./useKeys";

const SCOPES: { value: Scope; label: string }[] = [
  { value: "ingest", label: "Ingest only (ingest)" },
  { value: "read", label: "Read only (read)" },
  { value: "full", label: "All except keys and administration (full)" },
];

interface NewKeyProps {
  requiresExpiry: boolean;
  onClose: () => void;
  onSecret: (secret: Secret) => void;
}

export function NewKeyDialog({ requiresExpiry, onClose, onSecret }: NewKeyProps) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("ingest");
  const [expires, setExpires] = useState("");
  const create = useKeyChange(
    () =>
      unwrap(
        api.POST("/api/keys", {
          body: {
            name,
            scopes: [scope],
            expiresAt: fromDayField(expires, true)?.toISOString() ?? null,
          },
        }),
      ),
    onSecret,
  );
  const isComplete = name.trim() !== "" && (expires !== "" || !requiresExpiry);
  const about = (field: string) =>
    create.error instanceof ApiError ? create.error.about(field) : undefined;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="New key"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={!isComplete}
            busy={create.isPending}
            onClick={() => create.mutate()}
          >
            Create
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) create.mutate();
        }}
      >
        <TextField
          label="Name"
          hint="Where the key will be used"
          error={about("name")}
          value={name}
          onChange={setName}
        />
        <Field label="Permissions" error={about("scopes")}>
          {(props) => (
            <Select
              {...props}
              className="w-full max-w-none"
              value={scope}
              onChange={(value) => setScope(value as Scope)}
              options={SCOPES}
            />
          )}
        </Field>
        <TextField
          label="Expires"
          hint={`At the end of this day. ${requiresExpiry ? "Required in this workspace" : "Leave empty for no expiry"}`}
          required={requiresExpiry}
          error={about("expiresAt")}
          type="date"
          value={expires}
          onChange={setExpires}
        />
      </form>
    </Dialog>
  );
}

export function SecretDialog({ secret, onClose }: { secret: Secret | null; onClose: () => void }) {
  return (
    <Dialog
      isOpen={secret !== null}
      onClose={onClose}
      title="Your new API key"
      footer={
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <p className="mb-3 text-muted">
        Copy the key “{secret?.name}” now. Only its hash is stored, so it cannot be shown again.
      </p>
      <CodeBlock code={secret?.key ?? ""} label="API key" />
    </Dialog>
  );
}
