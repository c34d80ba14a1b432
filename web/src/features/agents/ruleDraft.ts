/** The rules of an agent while they are edited, and saving them. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { AlertRule } from "@/lib/alerts";
import { type Agent, api, unwrap } from "@/lib/api";
import { toast } from "@/ui/Toast";

export const NEW_RULE: AlertRule = {
  name: "Errors",
  metric: "errorRate",
  condition: "above",
  threshold: 0.05,
  windowMinutes: 15,
  forMinutes: 0,
  minSamples: 10,
  severity: "warning",
};

export interface Draft {
  enabled: boolean;
  rules: AlertRule[];
  emails: string;
  webhooks: string;
}

export function draftOf(settings: Agent["alertSettings"]): Draft {
  return {
    enabled: settings.enabled,
    rules: settings.rules as AlertRule[],
    emails: settings.notify.emails.join(", "),
    webhooks: settings.notify.webhooks.map((one) => one.url).join(", "),
  };
}

function split(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter(Boolean);
}

export function useSave(agent: Agent, onSaved: (agent: Agent) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (draft: Draft) =>
      unwrap(
        api.PUT("/api/agents/{agentId}/alerts", {
          params: { path: { agentId: agent.id } },
          body: {
            enabled: draft.enabled,
            rules: draft.rules,
            notify: {
              emails: split(draft.emails),
              webhooks: split(draft.webhooks).map((url) => ({ url })),
            },
          },
        }),
      ),
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["agents"] });
      toast("Saved. The rules apply from the next minute.", "good");
      onSaved(saved);
    },
  });
}
