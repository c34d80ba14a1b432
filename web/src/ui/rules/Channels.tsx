/** Slack, Teams and PagerDuty: adds and removes channels. */
import { X } from "lucide-react";
import { Button } from "../Button";
import { Input, Select } from "../Field";
import type { Channel } from "./ruleDraft";
import { WithTest } from "./WithTest";

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
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm text-muted">{label}</span>
      <WithTest
        agentId={agentId}
        label={label}
        receivers={secret ? [channel] : []}
        actions={
          <Button
            kind="quiet"
            aria-label={`Remove ${label}`}
            onClick={onRemove}
            icon={<X className="size-3.5" />}
          />
        }
      >
        <Input
          aria-label={isKey ? "Routing key for PagerDuty" : `Address for ${label}`}
          value={secret}
          placeholder={placeholder}
          onChange={({ target }) =>
            onChange({ ...channel, [isKey ? "routingKey" : "url"]: target.value })
          }
        />
      </WithTest>
    </div>
  );
}
