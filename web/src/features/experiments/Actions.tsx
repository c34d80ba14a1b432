/** Starts, pauses, stops and deletes an experiment. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Pause, Pencil, Play, Square, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Select } from "@/ui/Field";
import { RoleButton } from "@/ui/RoleButton";
import { toast } from "@/ui/Toast";
import type { Experiment } from "./labels";

type Action = "start" | "pause" | "stop" | "delete";

function useChangeStatus(experiment: Experiment) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { path: { id: experiment.id } };
  return useMutation({
    mutationFn: async ({ action, winner }: { action: Action; winner?: string | undefined }) => {
      if (action === "start") {
        await unwrap(api.POST("/api/experiments/{id}/start", { params: path }));
      } else if (action === "pause") {
        await unwrap(api.POST("/api/experiments/{id}/pause", { params: path }));
      } else if (action === "stop") {
        await unwrap(
          api.POST("/api/experiments/{id}/stop", {
            params: path,
            body: { winner: winner ?? null },
          }),
        );
      } else {
        await unwrap(api.DELETE("/api/experiments/{id}", { params: path }));
      }
      return action;
    },
    onSuccess: (action) => {
      if (action === "delete") void navigate({ to: "/experiments" });
      void queries.invalidateQueries({ queryKey: ["experiments"] });
      toast({ start: "Started.", pause: "Paused.", stop: "Stopped.", delete: "Deleted." }[action]);
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

interface Props {
  experiment: Experiment;
  /** The variant that the results recommend. */
  recommended?: string | undefined;
}

export function Actions({ experiment, recommended }: Props) {
  const change = useChangeStatus(experiment);
  const [confirming, setConfirming] = useState<"stop" | "delete" | null>(null);
  const [chosen, setWinner] = useState<string>();
  const winner = chosen ?? recommended ?? "";
  const { status } = experiment;
  return (
    <>
      {status === "draft" && (
        <Link
          to="/experiments/$experimentId/edit"
          params={{ experimentId: experiment.id }}
          className="flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-surface px-2.5 hover:bg-hover"
        >
          <Pencil className="size-3.5" aria-hidden />
          Edit
        </Link>
      )}
      {(status === "draft" || status === "paused") && (
        <RoleButton
          needs="editor"
          kind="primary"
          busy={change.isPending}
          icon={<Play className="size-3.5" />}
          onClick={() => change.mutate({ action: "start" })}
        >
          {status === "draft" ? "Start" : "Resume"}
        </RoleButton>
      )}
      {status === "running" && (
        <RoleButton
          needs="editor"
          busy={change.isPending}
          icon={<Pause className="size-3.5" />}
          onClick={() => change.mutate({ action: "pause" })}
        >
          Pause
        </RoleButton>
      )}
      {(status === "running" || status === "paused") && (
        <RoleButton
          needs="editor"
          icon={<Square className="size-3.5" />}
          onClick={() => setConfirming("stop")}
        >
          Stop
        </RoleButton>
      )}
      {status !== "running" && (
        <RoleButton
          needs="editor"
          kind="danger"
          aria-label="Delete"
          icon={<Trash2 className="size-3.5" />}
          onClick={() => setConfirming("delete")}
        />
      )}
      <Dialog
        isOpen={confirming === "stop"}
        onClose={() => setConfirming(null)}
        title="Stop experiment"
        footer={
          <>
            <Button onClick={() => setConfirming(null)}>Cancel</Button>
            <Button
              kind="primary"
              onClick={() => {
                change.mutate({ action: "stop", winner: winner || undefined });
                setConfirming(null);
              }}
            >
              Stop experiment
            </Button>
          </>
        }
      >
        <Field
          label="Variant for all units from now on"
          hint="A stopped experiment cannot be started again."
        >
          {(props) => (
            <Select
              {...props}
              className="w-full max-w-none"
              value={winner}
              onChange={setWinner}
              options={[
                { value: "", label: `${experiment.variants[0]?.key} (control, no winner)` },
                ...experiment.variants.map(({ key }) => ({
                  value: key,
                  label: key === recommended ? `${key} (recommended)` : key,
                })),
              ]}
            />
          )}
        </Field>
      </Dialog>
      <Dialog
        isOpen={confirming === "delete"}
        onClose={() => setConfirming(null)}
        title={`Delete ${experiment.name}?`}
        footer={
          <>
            <Button onClick={() => setConfirming(null)}>Cancel</Button>
            <Button kind="danger" onClick={() => change.mutate({ action: "delete" })}>
              Delete
            </Button>
          </>
        }
      >
        The definition is deleted. Its traces and signals are kept.
      </Dialog>
    </>
  );
}
