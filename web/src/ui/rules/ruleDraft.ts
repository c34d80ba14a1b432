/** Rules and who is notified while they are edited, and saving them. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { AlertRule } from "@/lib/alerts";
import { api, type Schemas, unwrap } from "@/lib/api";
import { NEW_DRAFT, toQuery } from "@/lib/queryDraft";
import { toast } from "../Toast";

export type Settings = Schemas["AlertSettings"];
export type Channel = Schemas["ChannelChange"];

export const NEW_RULE: AlertRule = {
  name: "Errors",
  enabled: true,
  metric: "errorRate",
  of: "traces",
  filters: [],
  condition: "above",
  threshold: 0.05,
  windowMinutes: 15,
  forMinutes: 0,
  minSamples: 10,
  severity: "warning",
};

/** New rules that a link can start with, by the value of `rule` in the URL. */
export const NEW_RULES: Record<string, AlertRule> = {
  new: NEW_RULE,
  newFailures: {
    ...NEW_RULE,
    name: "New failures",
    metric: "newFailureGroup",
    threshold: 0,
    windowMinutes: 60,
    minSamples: 1,
  },
};

/** The position of the rule that a link opens: a second one for new failures would repeat the first. */
export function findLinkedRule(rules: readonly AlertRule[], link: string): number | undefined {
  const at = rules.findIndex(({ metric }) => metric === NEW_RULES.newFailures?.metric);
  return link === "newFailures" && at >= 0 ? at : undefined;
}

export interface Draft {
  enabled: boolean;
  rules: AlertRule[];
  emails: string;
  webhooks: string;
  channels: Channel[];
}

export function draftOf(settings: Settings): Draft {
  return {
    enabled: settings.enabled,
    rules: settings.rules as AlertRule[],
    emails: settings.notify.emails.join(", "),
    webhooks: settings.notify.webhooks.map((one) => one.url).join(", "),
    channels: settings.notify.channels,
  };
}

export function splitAddresses(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter(Boolean);
}

/** A rule as it is sent: without filters that are not filled in yet. */
export function toRule(rule: AlertRule): AlertRule {
  const { filters } = toQuery({ ...NEW_DRAFT, filters: rule.filters }, null);
  return { ...rule, filters: (filters ?? []) as AlertRule["filters"] };
}

/** Saves the rules of an agent or, without one, of the workspace. */
export function useSaveRules(agentId: string | null, onSaved: (settings: Settings) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (draft: Draft): Promise<Settings> => {
      const body = {
        enabled: draft.enabled,
        rules: draft.rules.map(toRule),
        notify: {
          emails: splitAddresses(draft.emails),
          webhooks: splitAddresses(draft.webhooks).map((url) => ({ url })),
          channels: draft.channels,
        },
      };
      if (agentId === null) return unwrap(api.PUT("/api/alerts/settings", { body }));
      const params = { path: { agentId } };
      return (await unwrap(api.PUT("/api/agents/{agentId}/alerts", { params, body })))
        .alertSettings;
    },
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["agents"] });
      void queries.invalidateQueries({ queryKey: ["alerts"] });
      toast("Saved. The rules apply from the next minute.", "good");
      onSaved(saved);
    },
  });
}
