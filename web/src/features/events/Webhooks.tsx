/** URLs that are notified of events. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Send, Trash2, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import { ApiError, api, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { useSetUrl } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CodeBlock } from "@/ui/CodeBlock";
import { Dialog } from "@/ui/Dialog";
import { Checkbox, TextField } from "@/ui/Field";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";
import { EVENT_TYPES, type EventType, type Webhook } from "./types";

export function Webhooks() {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<Schemas["WebhookWithSecret"] | null>(null);
  const list = useQuery({
    queryKey: ["events", "webhooks"],
    queryFn: () =>
      unwrapPage(api.GET("/api/events/webhooks", { params: { query: { limit: 100 } } })),
  });
  const create = (
    <RoleButton
      needs="admin"
      icon={<Plus className="size-4" />}
      kind="primary"
      onClick={() => setCreating(true)}
    >
      New webhook
    </RoleButton>
  );
  return (
    <div>
      {(list.data?.items.length ?? 0) > 0 && (
        <div className="flex justify-end border-b p-2">{create}</div>
      )}
      {list.isPending && <SkeletonRows rows={4} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 && (
        <EmptyState
          icon={<WebhookIcon className="size-6" />}
          title="No webhooks yet"
          action={create}
        >
          A webhook receives a signed message for each event of the chosen types. Failed deliveries
          are retried.
        </EmptyState>
      )}
      <ul aria-label="Webhooks">
        {list.data?.items.map((webhook) => (
          <Row key={webhook.id} webhook={webhook} />
        ))}
      </ul>
      {isCreating && (
        <NewWebhook
          onClose={() => setCreating(false)}
          onCreated={(webhook) => {
            setCreating(false);
            setCreated(webhook);
          }}
        />
      )}
      <Dialog
        isOpen={created !== null}
        onClose={() => setCreated(null)}
        title="Signing secret"
        footer={
          <Button kind="primary" onClick={() => setCreated(null)}>
            I have copied it
          </Button>
        }
      >
        <p className="mb-3 text-muted">
          Messages to {created?.url} are signed according to Standard Webhooks. Copy the secret now;
          it is not shown again.
        </p>
        <CodeBlock code={created?.secret ?? ""} label="Signing secret" />
      </Dialog>
    </div>
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const queries = useQueryClient();
  const setUrl = useSetUrl();
  const path = { webhookId: webhook.id };
  const again = () => void queries.invalidateQueries({ queryKey: ["events"] });
  const test = useMutation({
    mutationFn: () =>
      unwrap(api.POST("/api/events/webhooks/{webhookId}/test", { params: { path } })),
    onSuccess: (delivery) => {
      again();
      if (delivery.status === "delivered")
        toast(`The webhook responded with ${delivery.responseStatus}.`, "good");
      else toast(delivery.error ?? `The webhook responded with ${delivery.responseStatus}.`, "bad");
    },
    onError: (error) => toast(error.message, "bad"),
  });
  const remove = useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/events/webhooks/{webhookId}", { params: { path } })),
    onSuccess: again,
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-3.5 py-2 last:border-0">
      <span className="min-w-0 flex-1 basis-64">
        <span className="block truncate font-medium" title={webhook.url}>
          {webhook.url}
        </span>
        <span className="flex flex-wrap gap-1 text-sm text-muted">
          {webhook.types.length === 0 && "all events"}
          {webhook.types.map((type) => (
            <Badge key={type}>{type}</Badge>
          ))}
        </span>
      </span>
      <span className="text-sm text-muted">
        Created <Time at={webhook.createdAt} />
      </span>
      <span className="flex gap-1.5">
        <RoleButton
          needs="admin"
          size="small"
          busy={test.isPending}
          icon={<Send className="size-3.5" />}
          onClick={() => test.mutate()}
        >
          Send test
        </RoleButton>
        <Button
          size="small"
          onClick={() => setUrl({ tab: "deliveries", webhook: webhook.id }, { push: true })}
        >
          Deliveries
        </Button>
        <RoleButton
          needs="admin"
          size="small"
          kind="danger"
          aria-label="Delete"
          busy={remove.isPending}
          icon={<Trash2 className="size-3.5" />}
          onClick={() => remove.mutate()}
        />
      </span>
    </li>
  );
}

interface NewProps {
  onClose: () => void;
  onCreated: (webhook: Schemas["WebhookWithSecret"]) => void;
}

function NewWebhook({ onClose, onCreated }: NewProps) {
  const queries = useQueryClient();
  const [url, setUrl] = useState("");
  const [types, setTypes] = useState<EventType[]>([]);
  const create = useMutation({
    mutationFn: () => unwrap(api.POST("/api/events/webhooks", { body: { url, types } })),
    onSuccess: (webhook) => {
      void queries.invalidateQueries({ queryKey: ["events", "webhooks"] });
      onCreated(webhook);
    },
  });
  const problem =
    create.error instanceof ApiError
      ? (create.error.about("url") ?? create.error.message)
      : create.error?.message;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="New webhook"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={!url}
            busy={create.isPending}
            onClick={() => create.mutate()}
          >
            Create
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <TextField
          label="Address"
          error={problem}
          type="url"
          placeholder="https://hooks.example.com/spanwise"
          value={url}
          onChange={setUrl}
        />
        <fieldset>
          <legend className="mb-1 font-medium">Events</legend>
          <p className="mb-2 text-sm text-muted">Choose none to receive all events.</p>
          <div className="grid gap-1.5 sm:grid-cols-2">
            {EVENT_TYPES.map((type) => (
              <Checkbox
                key={type}
                label={type}
                checked={types.includes(type)}
                onChange={(event) =>
                  setTypes(
                    event.target.checked ? [...types, type] : types.filter((one) => one !== type),
                  )
                }
              />
            ))}
          </div>
        </fieldset>
      </div>
    </Dialog>
  );
}
