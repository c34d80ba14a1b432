/** Starts, pauses, stops and deletes an experiment. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Pause, Play, Square, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Select } from "@/ui/Field";
import { toast } from "@/ui/Toast";
import type { Experiment } from "./words";

type Move = "start" | "pause" | "stop" | "delete";

function useMove(experiment: Experiment) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { path: { id: experiment.id } };
  return useMutation({
    mutationFn: async ({ move, winner }: { move: Move; winner?: string | undefined }) => {
      if (move === "start") {
        await unwrap(api.POST("/api/experiments/{id}/start", { params: path }));
      } else if (move === "pause") {
        await unwrap(api.POST("/api/experiments/{id}/pause", { params: path }));
      } else if (move === "stop") {
        await unwrap(
          api.POST("/api/experiments/{id}/stop", {
            params: path,
            body: { winner: winner ?? null },
          }),
        );
      } else {
        await unwrap(api.DELETE("/api/experiments/{id}", { params: path }));
      }
      return move;
    },
    onSuccess: (move) => {
      if (move === "delete") void navigate({ to: "/experiments" });
      void queries.invalidateQueries({ queryKey: ["experiments"] });
      toast({ start: "Running.", pause: "Paused.", stop: "Stopped.", delete: "Deleted." }[move]);
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

export function Actions({ experiment }: { experiment: Experiment }) {
  const move = useMove(experiment);
  const [asks, setAsks] = useState<"stop" | "delete" | null>(null);
  const [winner, setWinner] = useState("");
  const { status } = experiment;
  return (
    <>
      {(status === "draft" || status === "paused") && (
        <Button
          kind="primary"
          busy={move.isPending}
          icon={<Play className="size-3.5" />}
          onClick={() => move.mutate({ move: "start" })}
        >
          {status === "draft" ? "Start" : "Go on"}
        </Button>
      )}
      {status === "running" && (
        <Button
          busy={move.isPending}
          icon={<Pause className="size-3.5" />}
          onClick={() => move.mutate({ move: "pause" })}
        >
          Pause
        </Button>
      )}
      {(status === "running" || status === "paused") && (
        <Button icon={<Square className="size-3.5" />} onClick={() => setAsks("stop")}>
          Stop
        </Button>
      )}
      {status !== "running" && (
        <Button
          kind="danger"
          aria-label="Delete"
          icon={<Trash2 className="size-3.5" />}
          onClick={() => setAsks("delete")}
        />
      )}
      <Dialog
        isOpen={asks === "stop"}
        onClose={() => setAsks(null)}
        title="Stop the experiment"
        footer={
          <>
            <Button onClick={() => setAsks(null)}>Cancel</Button>
            <Button
              kind="primary"
              onClick={() => {
                move.mutate({ move: "stop", winner: winner || undefined });
                setAsks(null);
              }}
            >
              Stop for good
            </Button>
          </>
        }
      >
        <Field
          label="From now on everybody gets"
          hint="A stopped experiment cannot be started again."
        >
          {(props) => (
            <Select
              {...props}
              className="w-full max-w-none"
              value={winner}
              onChange={setWinner}
              options={[
                { value: "", label: `${experiment.variants[0]?.key} (the control, no winner)` },
                ...experiment.variants.map((one) => ({ value: one.key, label: one.key })),
              ]}
            />
          )}
        </Field>
      </Dialog>
      <Dialog
        isOpen={asks === "delete"}
        onClose={() => setAsks(null)}
        title={`Delete ${experiment.name}?`}
        footer={
          <>
            <Button onClick={() => setAsks(null)}>Cancel</Button>
            <Button kind="danger" onClick={() => move.mutate({ move: "delete" })}>
              Delete
            </Button>
          </>
        }
      >
        Its definition goes; the traces and signals that it has stay.
      </Dialog>
    </>
  );
}
