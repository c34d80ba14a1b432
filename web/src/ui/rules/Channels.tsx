/** Slack, Teams and PagerDuty: adds and removes channels, and sends a test. */
import { useMutation } from "@tanstack/react-query";
import { Send, X } from "lucide-react";
import { api, type Schemas, unwrap } from "@/lib/api";
import { Button } from "../Button";
import { Input, Select } from "../Field";
import type { Channel } from "./ruleDraft";

const TYPES: Record<Channel["type"], { label: string; placeholder: string }> = {
  slack: { label: "Slack", placeholder: "https://hooks.slack.com/services/…" },
  teams: { label: "Microsoft Teams", placeholder: "Address of the Workflows webhook" },
  pagerduty: { label: "PagerDuty", placeholder: "Routing key (Integration key)" },
};
const MOST = 10;

interface Props {
  agentId: string | null;
  channels: Channel[];
  onChange: (channels: Channel[]) => void;
  error: string | undefined;
}

export function Channels({ agentId, channels, onChange, error }: Props) {
  return (
    <div role="group" aria-label="Channels" className="flex flex-col gap-2">
      <span className="font-medium">Channels</span>
      {channels.map((channel, index) => (
        <ChannelRow
          key={channel.id ?? index}
          agentId={agentId}
          channel={channel}
          onChange={(next) => onChange(channels.map((one, at) => (at === index ? next : one)))}
          onRemove={() => onChange(channels.filter((_, at) => at !== index))}
        />
      ))}
      {error && <p className="text-sm text-bad">{error}</p>}
      {channels.length < MOST && (
        <Select
          aria-label="Add a channel"
          value=""
          onChange={(type) => type && onChange([...channels, { type: type as Channel["type"] }])}
          options={[
            { value: "", label: "+ Add channel" },
            ...Object.entries(TYPES).map(([value, { label }]) => ({ value, label })),
          ]}
        />
      )}
    </div>
  );
}

interface RowProps {
  agentId: string | null;
  channel: Channel;
  onChange: (channel: Channel) => void;
  onRemove: () => void;
}

function ChannelRow({ agentId, channel, onChange, onRemove }: RowProps) {
  const { label, placeholder } = TYPES[channel.type];
  const isKey = channel.type === "pagerduty";
  const secret = (isKey ? channel.routingKey : channel.url) ?? "";
  const test = useMutation({
    mutationFn: () =>
      unwrap(
        agentId === null
          ? api.POST("/api/alerts/test", { body: channel })
          : api.POST("/api/agents/{agentId}/alerts/test", {
              params: { path: { agentId } },
              body: channel,
            }),
      ),
  });
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm text-muted">{label}</span>
      <div className="flex gap-1">
        <Input
          aria-label={isKey ? "Routing key for PagerDuty" : `Address for ${label}`}
          value={secret}
          placeholder={placeholder}
          onChange={({ target }) =>
            onChange({ ...channel, [isKey ? "routingKey" : "url"]: target.value })
          }
        />
        <Button
          aria-label={`Send a test to ${label}`}
          busy={test.isPending}
          disabled={!secret}
          onClick={() => test.mutate()}
          icon={<Send className="size-3.5" />}
        />
        <Button
          kind="quiet"
          aria-label={`Remove ${label}`}
          onClick={onRemove}
          icon={<X className="size-3.5" />}
        />
      </div>
      {test.error && <p className="text-sm text-bad">{test.error.message}</p>}
      {test.data && <Answer delivery={test.data} />}
    </div>
  );
}

function Answer({ delivery }: { delivery: Schemas["Delivery"] }) {
  const isDelivered = delivery.status === "delivered";
  const said = delivery.responseStatus ? `Answered ${delivery.responseStatus}` : delivery.error;
  return (
    <p role="status" className={isDelivered ? "text-sm text-good" : "text-sm text-bad"}>
      {said}
      {delivery.response && <>: {delivery.response}</>}
    </p>
  );
}
