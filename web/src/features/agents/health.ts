/** The health of an agent, from its last 24 hours and its open alerts. */
import type { Agent, Schemas } from "@/lib/api";

type Counts = Schemas["AlertSummary"]["byAgent"][number];

export interface Health {
  tone: "good" | "warning" | "bad" | "neutral";
  word: string;
}

const MANY_ERRORS = 0.05;

export function agentHealth(agent: Agent, alerts: Counts | undefined): Health {
  if (alerts?.active) {
    return { tone: "bad", word: alerts.active === 1 ? "1 alert" : `${alerts.active} alerts` };
  }
  if (agent.stats24h.traces === 0) return { tone: "neutral", word: "no traffic in 24 h" };
  if (agent.stats24h.errorRate > MANY_ERRORS) return { tone: "warning", word: "many errors" };
  if (alerts?.acknowledged) return { tone: "warning", word: "acknowledged" };
  return { tone: "good", word: "healthy" };
}
