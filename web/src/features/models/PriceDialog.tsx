/** Sets a price of a model or tool, from a date on. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, unwrap } from "@/lib/api";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Select, TextField } from "@/ui/Field";
import { toast } from "@/ui/Toast";
import type { Kind, PriceDraft, Rate } from "./drafts";

const RATES: readonly (readonly [Rate, string, string])[] = [
  ["inputPerMillion", "Input", "Per 1M tokens"],
  ["outputPerMillion", "Output", "Per 1M tokens"],
  ["cachedInputPerMillion", "Cached input", "Same as input if empty"],
  ["cacheWritePerMillion", "Cache write", "Same as input if empty"],
  ["reasoningPerMillion", "Reasoning", "Same as output if empty"],
  ["audioInputPerMillion", "Audio input", "No price if empty"],
  ["audioOutputPerMillion", "Audio output", "No price if empty"],
  ["perCall", "Per call", "USD for each call that did not fail"],
  ["perImage", "Per image", "No price if empty"],
];
const TOOL_RATES = RATES.filter(([rate]) => rate === "perCall");
const KINDS = [
  { value: "model", label: "Model" },
  { value: "tool", label: "Tool" },
];

interface DialogProps {
  draft: PriceDraft;
  onClose: () => void;
}

export function PriceDialog({ draft, onClose }: DialogProps) {
  const queries = useQueryClient();
  const [kind, setKind] = useState<Kind>(draft.kind);
  const [name, setName] = useState(draft.name);
  const [from, setFrom] = useState(draft.effectiveFrom?.slice(0, 10) ?? "");
  const [typed, setTyped] = useState(draft.rates);
  const shown = (rate: Rate) => typed[rate] ?? "";
  const rates = kind === "tool" ? TOOL_RATES : RATES;
  const needed: Rate[] = kind === "tool" ? ["perCall"] : ["inputPerMillion", "outputPerMillion"];
  const save = useMutation({
    mutationFn: () => {
      const read = (rate: Rate) => (shown(rate) === "" ? null : Number(shown(rate)));
      const body = {
        kind,
        model: name.trim(),
        effectiveFrom: effectiveFrom(draft, from),
        ...Object.fromEntries(rates.map(([rate]) => [rate, read(rate)])),
      };
      return unwrap(api.PUT("/api/models/prices", { body }));
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["models"] });
      toast("Saved. Earlier calls are being repriced.", "good");
      onClose();
    },
  });
  const about = (field: string) =>
    save.error instanceof ApiError ? save.error.about(field) : undefined;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={draft.name ? `Price of ${draft.name}` : "Add a price"}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={name.trim() === "" || needed.some((rate) => shown(rate) === "")}
            busy={save.isPending}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </>
      }
    >
      <p className="mb-3 text-muted">
        US dollars, for this workspace only
        {draft.provider
          ? `. ${draft.provider} reported this model; the price applies to any provider`
          : ""}
        .
      </p>
      {save.error && !(save.error instanceof ApiError && save.error.details.length) && (
        <p role="alert" className="mb-3 text-bad">
          {save.error.message}
        </p>
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        {!draft.name && (
          <>
            <Field label="For" hint="A tool has a price per call">
              {(props) => (
                <Select
                  {...props}
                  value={kind}
                  onChange={(value) => setKind(value as Kind)}
                  options={KINDS}
                />
              )}
            </Field>
            <TextField
              label="Name"
              hint="Exactly as spans name it; it need not have been seen yet"
              value={name}
              error={about("model")}
              onChange={setName}
            />
          </>
        )}
        {rates.map(([rate, label, hint]) => (
          <TextField
            key={rate}
            label={label}
            hint={hint}
            error={about(rate)}
            type="number"
            min={0}
            step="any"
            value={shown(rate)}
            onChange={(value) => setTyped({ ...typed, [rate]: value })}
          />
        ))}
        <TextField
          label="Valid from"
          hint="A day in UTC; empty means from the beginning"
          type="date"
          value={from}
          error={about("effectiveFrom")}
          readOnly={draft.isStored}
          onChange={setFrom}
        />
      </div>
    </Dialog>
  );
}

/** A stored price keeps its time of day, which the form does not show. */
function effectiveFrom(draft: PriceDraft, day: string): string | null {
  if (draft.isStored) return draft.effectiveFrom;
  return day === "" ? null : `${day}T00:00:00Z`;
}
