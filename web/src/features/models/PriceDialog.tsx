/** Sets the price of one model, or goes back to its list price. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { useState } from "react";
import { ApiError, api, unwrap } from "@/lib/api";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Input } from "@/ui/Field";
import { toast } from "@/ui/Toast";
import type { Model } from "./columns";

const RATES = [
  ["inputPerMillion", "Input", ""],
  ["outputPerMillion", "Output", ""],
  ["cachedInputPerMillion", "Cached input", "Same as input if empty"],
  ["cacheWritePerMillion", "Cache write", "Same as input if empty"],
  ["reasoningPerMillion", "Reasoning", "Same as output if empty"],
] as const;
type Rate = (typeof RATES)[number][0];

interface DialogProps {
  name: string;
  model: Model | undefined;
  onClose: () => void;
}

export function PriceDialog({ name, model, onClose }: DialogProps) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState<Partial<Record<Rate, string>>>({});
  const shown = (rate: Rate) =>
    typed[rate] ?? (model?.[rate] === null || model === undefined ? "" : String(model[rate] ?? ""));
  const done = (words: string) => {
    void queries.invalidateQueries({ queryKey: ["models"] });
    toast(words, "good");
    onClose();
  };
  const save = useMutation({
    mutationFn: () => {
      const read = (rate: Rate) => (shown(rate) === "" ? null : Number(shown(rate)));
      const rates = Object.fromEntries(RATES.map(([rate]) => [rate, read(rate)]));
      return unwrap(api.PUT("/api/models/prices", { body: { model: name, ...rates } }));
    },
    onSuccess: () => done("Saved. Earlier calls are being repriced."),
  });
  const reset = useMutation({
    mutationFn: () =>
      unwrap(api.DELETE("/api/models/prices", { params: { query: { model: name } } })),
    onSuccess: () => done("List price restored."),
  });
  const error = save.error ?? reset.error;
  return (
    <Dialog
      isOpen={name !== ""}
      onClose={onClose}
      title={`Price of ${name}`}
      footer={
        <>
          {model?.priceSource === "own" && (
            <Button
              className="mr-auto"
              icon={<Undo2 className="size-3.5" />}
              busy={reset.isPending}
              onClick={() => reset.mutate()}
            >
              Use the list price
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={shown("inputPerMillion") === "" || shown("outputPerMillion") === ""}
            busy={save.isPending}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </>
      }
    >
      <p className="mb-3 text-muted">USD per 1M tokens, for this workspace only.</p>
      {error && !(error instanceof ApiError && error.details.length) && (
        <p role="alert" className="mb-3 text-bad">
          {error.message}
        </p>
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        {RATES.map(([rate, label, hint]) => (
          <Field
            key={rate}
            label={label}
            hint={hint}
            error={error instanceof ApiError ? error.about(rate) : undefined}
          >
            {(props) => (
              <Input
                {...props}
                type="number"
                min={0}
                step="any"
                value={shown(rate)}
                onChange={(event) => setTyped({ ...typed, [rate]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </Dialog>
  );
}
