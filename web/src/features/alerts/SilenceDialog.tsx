/** Mutes the notifications of a rule, an agent or the workspace for a time. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, unwrap } from "@/lib/api";
import { fromField } from "@/lib/timeZone";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Choices, Field, Input, type Option, TextField } from "@/ui/Field";
import { toast } from "@/ui/Toast";

export interface SilenceScope {
  agentId: string | null;
  /** Without a rule, all rules of the agent; without an agent too, the whole workspace. */
  ruleId: string | null;
  agentName: string | null;
  ruleName?: string;
}

type Part = "rule" | "agent" | "workspace";

/** What can be muted from here: the rule and everything that contains it. */
function partsOf({ agentId, ruleId, agentName }: SilenceScope): Option<Part>[] {
  const parts: (Option<Part> | false)[] = [
    ruleId !== null && { value: "rule", label: "This rule" },
    agentId !== null && { value: "agent", label: `All rules of ${agentName}` },
    { value: "workspace", label: "The whole workspace" },
  ];
  return parts.filter((part) => part !== false);
}

function nameOf(part: Part, { agentName, ruleName }: SilenceScope): string {
  if (part === "rule") return ruleName ?? "this rule";
  return (part === "agent" && agentName) || "the whole workspace";
}

const HOUR = 3_600_000;
const DURATIONS = [
  { value: "1", label: "1 hour" },
  { value: "4", label: "4 hours" },
  { value: "24", label: "1 day" },
  { value: "until", label: "Until a date" },
];

interface Props {
  scope: SilenceScope;
  onClose: () => void;
}

/** Mount it when it opens, so that it starts with the narrowest choice. */
export function SilenceDialog({ scope, onClose }: Props) {
  const queries = useQueryClient();
  const parts = partsOf(scope);
  const [part, setPart] = useState<Part>(parts[0]?.value ?? "workspace");
  const [duration, setDuration] = useState("1");
  const [until, setUntil] = useState("");
  const [reason, setReason] = useState("");
  const create = useMutation({
    mutationFn: () => {
      const end =
        duration === "until" ? fromField(until) : new Date(Date.now() + Number(duration) * HOUR);
      const agentId = part === "workspace" ? null : scope.agentId;
      const ruleId = part === "rule" ? scope.ruleId : null;
      return unwrap(
        api.POST("/api/alerts/silences", {
          body: { agentId, ruleId, reason: reason || null, endsAt: end.toISOString() },
        }),
      );
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["alerts"] });
      toast("Silenced. Alerts are still raised.", "good");
      onClose();
    },
  });
  const untilProblem =
    duration === "until" && create.error instanceof ApiError
      ? create.error.about("endsAt")
      : undefined;
  const problem = untilProblem ? undefined : create.error?.message;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`Silence ${nameOf(part, scope)}`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={create.isPending}
            disabled={duration === "until" && !until}
            onClick={() => create.mutate()}
          >
            Silence
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-muted">
          Nobody is notified for this time. Alerts are still raised and marked as silenced.
          {part === "agent" && " Rules for all agents are not silenced."}
        </p>
        {parts.length > 1 && (
          <Choices label="What" options={parts} value={part} onChange={setPart} />
        )}
        <Choices label="For" options={DURATIONS} value={duration} onChange={setDuration} />
        {problem && (
          <p role="alert" className="text-bad">
            {problem}
          </p>
        )}
        {duration === "until" && (
          <Field label="Until" error={untilProblem}>
            {(props) => (
              <Input
                {...props}
                type="datetime-local"
                value={until}
                onChange={(event) => setUntil(event.target.value)}
              />
            )}
          </Field>
        )}
        <TextField
          label="Reason"
          value={reason}
          placeholder="Planned migration"
          onChange={setReason}
        />
      </div>
    </Dialog>
  );
}
