/** A form that adds a signal to a trace or one of its spans. */
import { useQueryClient } from "@tanstack/react-query";
import { ThumbsUp } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { ApiError, api, type TraceWithSpans, unwrap } from "@/lib/api";
import { useSignalNames } from "@/lib/queries";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Select, TextArea, TextField } from "@/ui/Field";
import { RoleButton } from "@/ui/RoleButton";
import { toast } from "@/ui/Toast";

interface ButtonProps {
  traceId: string;
  /** The selected span. */
  spanId: string | undefined;
  /** What the signal applies to, unless another choice is made. */
  of: Draft["of"];
}

/** The one of a span is an icon. */
export function AddSignalButton({ traceId, spanId, of }: ButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <RoleButton
        needs="editor"
        size="small"
        kind={of === "span" ? "quiet" : "plain"}
        icon={<ThumbsUp className="size-3.5" />}
        onClick={() => setOpen(true)}
        {...(of === "span" && { "aria-label": "Add a signal to this span" })}
      >
        {of === "trace" ? "Add signal" : undefined}
      </RoleButton>
      {isOpen && (
        <AddSignal traceId={traceId} spanId={spanId} of={of} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

interface Draft {
  of: "trace" | "span";
  signalName: string;
  value: string;
  comment: string;
}

function useSave(traceId: string, spanId: string | undefined, onSaved: () => void) {
  const queries = useQueryClient();
  const [error, setError] = useState<ApiError>();
  const [isSaving, setSaving] = useState(false);
  const save = async ({ of, signalName, value, comment }: Draft) => {
    setSaving(true);
    try {
      const signal = await unwrap(
        api.POST("/api/signals", {
          body: {
            signalName: signalName.trim(),
            value: Number(value),
            traceId,
            ...(of === "span" && { spanId }),
            ...(comment.trim() && { comment: comment.trim() }),
          } as never,
        }),
      );
      queries.setQueryData<TraceWithSpans>(
        ["trace", traceId],
        (trace) => trace && { ...trace, signals: [signal, ...trace.signals] },
      );
      void queries.invalidateQueries({ queryKey: ["signals"] });
      toast("Signal added.");
      onSaved();
    } catch (thrown) {
      setError(thrown instanceof ApiError ? thrown : new ApiError(String(thrown), 0));
      setSaving(false);
    }
  };
  return { save, error, isSaving };
}

function AddSignal({ traceId, spanId, of, onClose }: ButtonProps & { onClose: () => void }) {
  const names = useSignalNames();
  const suggestions = useId();
  const [draft, setDraft] = useState<Draft>({
    of,
    signalName: "",
    value: "",
    comment: "",
  });
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const { save, error, isSaving } = useSave(traceId, spanId, onClose);
  const isComplete = draft.signalName.trim() !== "" && isNumber(draft.value);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isComplete) void save(draft);
  };
  return (
    <Dialog isOpen onClose={onClose} title="Add a signal">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Name"
          hint="For example thumbs_up or quality; a known name continues its trend."
          value={draft.signalName}
          onChange={(signalName) => change({ signalName })}
          error={error?.about("signalName")}
          list={suggestions}
          autoComplete="off"
          maxLength={128}
        />
        <datalist id={suggestions}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <TextField
          label="Value"
          hint="A number: 1 or 0 for yes or no, or any score."
          inputMode="decimal"
          value={draft.value}
          onChange={(value) => change({ value })}
          error={draft.value && !isNumber(draft.value) ? "Must be a number" : error?.about("value")}
        />
        <Field label="Comment" hint="Optional" error={error?.about("comment")}>
          {(props) => (
            <TextArea
              {...props}
              value={draft.comment}
              onChange={(event) => change({ comment: event.target.value })}
            />
          )}
        </Field>
        {spanId && (
          <Field label="Applies to">
            {(props) => (
              <Select
                {...props}
                value={draft.of}
                onChange={(of) => change({ of: of as Draft["of"] })}
                options={[
                  { value: "span", label: "The selected span" },
                  { value: "trace", label: "The whole trace" },
                ]}
              />
            )}
          </Field>
        )}
        {error && error.details.length === 0 && (
          <p role="alert" className="text-bad">
            {error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!isComplete} busy={isSaving}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function isNumber(text: string): boolean {
  return text.trim() !== "" && Number.isFinite(Number(text));
}
