/** API keys: made, rotated, revoked and deleted here; a secret is shown once. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus, RotateCw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiError, api, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { useUrlState } from "@/lib/url";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CodeBlock } from "@/ui/CodeBlock";
import { Dialog } from "@/ui/Dialog";
import { Field, Select, TextField } from "@/ui/Field";
import { PageBody } from "@/ui/Panel";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";

type Key = Schemas["ApiKey"];
type Secret = Schemas["ApiKeyWithSecret"];
type Scope = Key["scopes"][number];

const TONES: Record<Key["status"], Tone> = { active: "good", revoked: "bad", expired: "warning" };
const SCOPES: { value: Scope; label: string }[] = [
  { value: "ingest", label: "Send only (ingest)" },
  { value: "read", label: "Read only (read)" },
  { value: "full", label: "Everything but keys and admin (full)" },
];
const GRACES = [
  { value: "0", label: "at once" },
  { value: "3600", label: "in an hour" },
  { value: "86400", label: "in a day" },
];

export default function KeysPage() {
  const [dialog, setDialog] = useUrlState("new", "");
  const [secret, setSecret] = useState<Secret | null>(null);
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
    <PageBody title="API keys" actions={create}>
      <div className="overflow-hidden rounded-lg border bg-surface">
        {list.isPending && <SkeletonRows rows={4} />}
        {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.data?.items.length === 0 && (
          <EmptyState icon={<KeyRound className="size-6" />} title="No key yet" action={create}>
            Applications send their traces with a key. It is shown once and stored as a hash.
          </EmptyState>
        )}
        <ul aria-label="Keys">
          {list.data?.items.map((key) => (
            <Row key={key.id} apiKey={key} onSecret={setSecret} />
          ))}
        </ul>
      </div>
      <NewKey
        isOpen={dialog !== ""}
        onClose={() => setDialog("")}
        onSecret={(made) => {
          setDialog("");
          setSecret(made);
        }}
      />
      <ShownOnce secret={secret} onClose={() => setSecret(null)} />
    </PageBody>
  );
}

function useChange<T>(work: () => Promise<T>, done: (answer: T) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: work,
    onSuccess: (answer) => {
      void queries.invalidateQueries({ queryKey: ["keys"] });
      done(answer);
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

function Row({ apiKey, onSecret }: { apiKey: Key; onSecret: (secret: Secret) => void }) {
  const [asks, setAsks] = useState<"rotate" | "revoke" | "delete" | null>(null);
  const [grace, setGrace] = useState("0");
  const params = { path: { id: apiKey.id } };
  const close = () => setAsks(null);
  const rotate = useChange(
    () =>
      unwrap(api.PUT("/api/keys/{id}/refresh", { params, body: { graceSeconds: Number(grace) } })),
    (made) => {
      close();
      onSecret(made);
    },
  );
  const revoke = useChange(
    () => unwrap(api.POST("/api/keys/{id}/revoke", { params })),
    () => {
      close();
      toast("Revoked. It stopped at once.");
    },
  );
  const remove = useChange(
    () => unwrap(api.DELETE("/api/keys/{id}", { params })),
    () => {
      close();
      toast("Deleted.");
    },
  );
  const isActive = apiKey.status === "active";
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
      <span className="w-44 text-sm text-muted">
        used {apiKey.lastUsedAt ? <Time at={apiKey.lastUsedAt} /> : "never"}
        <span className="block">
          {apiKey.expiresAt ? (
            <>
              expires <Time at={apiKey.expiresAt} as="short" />
            </>
          ) : (
            <>
              {apiKey.rotatedAt ? "rotated " : "made "}
              <Time at={apiKey.rotatedAt ?? apiKey.createdAt} />
            </>
          )}
        </span>
      </span>
      <span className="flex gap-1.5 md:w-56 md:justify-end">
        {isActive && (
          <>
            <Button
              size="small"
              icon={<RotateCw className="size-3.5" />}
              onClick={() => setAsks("rotate")}
            >
              Rotate
            </Button>
            <Button size="small" kind="danger" onClick={() => setAsks("revoke")}>
              Revoke
            </Button>
          </>
        )}
        <Button size="small" kind="danger" onClick={() => setAsks("delete")}>
          Delete
        </Button>
      </span>
      <Ask
        isOpen={asks === "rotate"}
        onClose={close}
        title={`Rotate ${apiKey.name}`}
        word="Rotate"
        isBusy={rotate.isPending}
        onYes={() => rotate.mutate()}
      >
        <Field
          label="The old secret stops"
          hint="Give running applications time to take the new one."
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
      </Ask>
      <Ask
        isOpen={asks === "revoke"}
        onClose={close}
        title={`Revoke ${apiKey.name}?`}
        word="Revoke"
        isDangerous
        isBusy={revoke.isPending}
        onYes={() => revoke.mutate()}
      >
        Whoever uses it is refused from this moment on. This cannot be undone.
      </Ask>
      <Ask
        isOpen={asks === "delete"}
        onClose={close}
        title={`Delete ${apiKey.name}?`}
        word="Delete"
        isDangerous
        isBusy={remove.isPending}
        onYes={() => remove.mutate()}
      >
        {isActive ? "It stops at once and leaves the list." : "It leaves the list."}
      </Ask>
    </li>
  );
}

interface AskProps {
  isOpen: boolean;
  onClose: () => void;
  onYes: () => void;
  title: string;
  word: string;
  isBusy: boolean;
  isDangerous?: boolean;
  children: ReactNode;
}

function Ask({ isOpen, onClose, onYes, title, word, isBusy, isDangerous, children }: AskProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={isDangerous ? "danger" : "primary"} busy={isBusy} onClick={onYes}>
            {word}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}

interface NewKeyProps {
  isOpen: boolean;
  onClose: () => void;
  onSecret: (secret: Secret) => void;
}

function NewKey({ isOpen, onClose, onSecret }: NewKeyProps) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("ingest");
  const [expires, setExpires] = useState("");
  const create = useChange(
    () =>
      unwrap(
        api.POST("/api/keys", {
          body: {
            name,
            scopes: [scope],
            expiresAt: expires ? new Date(expires).toISOString() : null,
          },
        }),
      ),
    (made) => {
      setName("");
      setExpires("");
      onSecret(made);
    },
  );
  const about = (field: string) =>
    create.error instanceof ApiError ? create.error.about(field) : undefined;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="New key"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={!name.trim()}
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
          if (name.trim()) create.mutate();
        }}
      >
        <TextField
          label="Name"
          hint="Where is it going to be used?"
          error={about("name")}
          autoFocus
          value={name}
          onChange={setName}
        />
        <Field label="May" error={about("scopes")}>
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
          hint="Never, unless you choose a day"
          error={about("expiresAt")}
          type="date"
          value={expires}
          onChange={setExpires}
        />
      </form>
    </Dialog>
  );
}

function ShownOnce({ secret, onClose }: { secret: Secret | null; onClose: () => void }) {
  return (
    <Dialog
      isOpen={secret !== null}
      onClose={onClose}
      title="The secret, shown once"
      footer={
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <p className="mb-3 text-muted">
        Copy the key of “{secret?.name}” now. Only its hash is stored, so nobody can show it again.
      </p>
      <CodeBlock code={secret?.key ?? ""} label="API key" />
    </Dialog>
  );
}
