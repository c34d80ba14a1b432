/** Scores a trace or a span: one click for 1 or 0, or any value with a comment. */
import { ThumbsDown, ThumbsUp } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useSignalNames } from "@/lib/queries";
import { Button } from "@/ui/Button";
import { Field, Input, Select, TextArea, TextField } from "@/ui/Field";
import { RoleButton } from "@/ui/RoleButton";
import { lastName, useSaveSignal } from "./useSaveSignal";

export type Subject = "trace" | "span";

interface Props {
  traceId: string;
  /** The selected span. */
  spanId: string | undefined;
  /** What the signal applies to, unless another choice is made. */
  of: Subject;
  /** Shows the value and the comment. */
  startsOpen?: boolean;
  onSaved?: () => void;
}

export function SignalForm({ traceId, spanId, of: initial, startsOpen = false, onSaved }: Props) {
  const names = useSignalNames();
  const suggestions = useId();
  const [name, setName] = useState(lastName);
  const [of, setOf] = useState(initial);
  const [value, setValue] = useState("");
  const [comment, setComment] = useState("");
  const [isOpen, setOpen] = useState(startsOpen);
  const { save, isSaving, error } = useSaveSignal(() => {
    setValue("");
    setComment("");
    onSaved?.();
  });
  const signalName = name.trim();
  const isComplete = signalName !== "" && isNumber(value);
  const add = (score: number) =>
    save({
      signalName,
      value: score,
      comment: comment.trim(),
      traceId,
      spanId: of === "span" ? spanId : undefined,
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isComplete) add(Number(value));
  };
  const problem = error?.about("signalName") ?? (error?.details.length === 0 && error.message);
  return (
    <form onSubmit={submit} aria-label="Add a signal" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Input
          aria-label="Name"
          title="The name of the signal; a known one continues its trend"
          placeholder="Name of the signal"
          value={name}
          onChange={(event) => setName(event.target.value)}
          // Another name replaces the last one.
          onFocus={(event) => event.target.select()}
          list={suggestions}
          autoComplete="off"
          maxLength={128}
          aria-invalid={Boolean(error?.about("signalName"))}
          className="!w-36 grow"
        />
        <datalist id={suggestions}>
          {names.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <Thumb name={signalName} score={1} isSaving={isSaving} onClick={add} />
        <Thumb name={signalName} score={0} isSaving={isSaving} onClick={add} />
        {spanId && (
          <Select
            aria-label="Applies to"
            value={of}
            onChange={(next) => setOf(next as Subject)}
            options={[
              { value: "span", label: "The selected span" },
              { value: "trace", label: "The whole trace" },
            ]}
          />
        )}
        {!startsOpen && (
          <Button kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Other value
          </Button>
        )}
      </div>
      {isOpen && (
        <>
          <TextField
            label="Value"
            hint="A number: 1 or 0 for yes or no, or any score."
            inputMode="decimal"
            value={value}
            onChange={setValue}
            error={value && !isNumber(value) ? "Must be a number" : error?.about("value")}
          />
          <Field label="Comment" hint="Optional" error={error?.about("comment")}>
            {(props) => (
              <TextArea
                {...props}
                className="!min-h-14"
                value={comment}
                onChange={(event) => setComment(event.target.value)}
              />
            )}
          </Field>
          <RoleButton
            needs="editor"
            kind="primary"
            type="submit"
            className="self-end"
            disabled={!isComplete}
            busy={isSaving}
          >
            Add
          </RoleButton>
        </>
      )}
      {problem && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
    </form>
  );
}

interface ThumbProps {
  name: string;
  score: 0 | 1;
  isSaving: boolean;
  onClick: (score: number) => void;
}

function Thumb({ name, score, isSaving, onClick }: ThumbProps) {
  const Icon = score === 1 ? ThumbsUp : ThumbsDown;
  return (
    <RoleButton
      needs="editor"
      aria-label={`Add ${name || "signal"} ${score}`}
      disabled={name === "" || isSaving}
      onClick={() => onClick(score)}
      icon={<Icon className={score === 1 ? "size-4 text-good" : "size-4 text-bad"} />}
    />
  );
}

function isNumber(text: string): boolean {
  return text.trim() !== "" && Number.isFinite(Number(text));
}
