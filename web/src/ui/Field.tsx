import {
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  useId,
} from "react";
import { cx } from "./cx";

export const BOX =
  "h-8 min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-fg disabled:opacity-60 aria-invalid:border-bad";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  children: (props: {
    id: string;
    "aria-describedby": string;
    "aria-invalid": boolean;
  }) => ReactNode;
}

/** A labelled form field with its hint or error below. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({ id, "aria-describedby": note, "aria-invalid": Boolean(error) })}
      <p id={note} className={cx("text-sm empty:hidden", error ? "text-bad" : "text-muted")}>
        {error ?? hint}
      </p>
    </div>
  );
}

export function Input(props: ComponentProps<"input">) {
  return <input {...props} className={cx(BOX, "w-full", props.className)} />;
}

interface TextFieldProps
  extends Omit<FieldProps, "children">,
    Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> {
  value: string;
  onChange: (value: string) => void;
}

/** A field with one line of text. */
export function TextField({ label, hint, error, onChange, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(props) => <Input {...props} {...rest} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

export function TextArea(props: React.TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <textarea {...props} className={cx(BOX, "h-auto min-h-20 w-full py-1.5", props.className)} />
  );
}

interface SelectProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange"> {
  value: string;
  onChange: (value: string) => void;
  options: readonly (string | { value: string; label: string })[];
}

/** A native select, which works well on phones and with the keyboard. */
export function Select({ options, onChange, ...rest }: SelectProps) {
  return (
    <select
      {...rest}
      onChange={(event) => onChange(event.target.value)}
      className={cx(BOX, "max-w-56 pr-1.5 pl-2", rest.className)}
    >
      {options.map((option) => {
        const { value, label } =
          typeof option === "string" ? { value: option, label: option } : option;
        return (
          <option key={value} value={value}>
            {label}
          </option>
        );
      })}
    </select>
  );
}

export function Checkbox({
  label,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { label: ReactNode }) {
  return (
    <label className="flex cursor-pointer items-center gap-2">
      <input type="checkbox" {...rest} className="size-3.5 accent-accent" />
      {label}
    </label>
  );
}

export interface Option<T extends string = string> {
  value: T;
  label: string;
}

interface ChoicesProps<T extends string> {
  label: string;
  options: readonly Option<T>[];
  value: T;
  onChange: (value: T) => void;
}

/** A few choices that are all visible: one click instead of the two of a select. */
export function Choices<T extends string>({ label, options, value, onChange }: ChoicesProps<T>) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{label}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1.5">
        {options.map((option) => (
          <label key={option.value} className="flex cursor-pointer items-center gap-2">
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
              className="size-3.5 accent-accent"
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
