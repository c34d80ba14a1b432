import type { Schemas } from "@/lib/api";

export type Event = Schemas["Event"];
export type EventType = Event["type"];
export type Webhook = Schemas["Webhook"];
export type Delivery = Schemas["Delivery"];

/** A record, so that the compiler reports a missing type. */
const TYPES: Record<EventType, true> = {
  "agent.created": true,
  "agent.deleted": true,
  "agents.limit_reached": true,
  "alert.triggered": true,
  "alert.acknowledged": true,
  "alert.reopened": true,
  "alert.resolved": true,
  "experiment.created": true,
  "experiment.started": true,
  "experiment.paused": true,
  "experiment.stopped": true,
  "experiment.deleted": true,
  "key.rotated": true,
  "key.revoked": true,
};
export const EVENT_TYPES = Object.keys(TYPES) as EventType[];
