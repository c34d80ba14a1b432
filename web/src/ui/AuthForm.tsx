/** The forms of the pages before signing in. */
import type { UseMutationResult } from "@tanstack/react-query";
import type { ComponentProps, FormEvent, ReactNode } from "react";
import { ApiError } from "@/lib/api";
import { FormError } from "./AuthFrame";
import { Button } from "./Button";
import { TextField } from "./Field";

interface FormProps {
  change: UseMutationResult<unknown, Error, void>;
  submit: string;
  isComplete: boolean;
  children: ReactNode;
  /** Below the button. */
  more?: ReactNode;
}

export function AuthForm({ change, submit, isComplete, children, more }: FormProps) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-3.5" noValidate>
      <FormError error={change.error} />
      {children}
      <Button kind="primary" type="submit" busy={change.isPending} disabled={!isComplete}>
        {submit}
      </Button>
      {more}
    </form>
  );
}

const FIELDS = {
  email: { label: "E-mail", type: "email", autoComplete: "username" },
  name: { label: "Name", hint: "Optional", autoComplete: "name" },
  password: { label: "Password", type: "password", autoComplete: "current-password" },
  newPassword: {
    label: "Password",
    hint: "At least 8 characters, not a common password",
    type: "password",
    autoComplete: "new-password",
  },
};

interface FieldProps extends Omit<ComponentProps<typeof TextField>, "label" | "error"> {
  kind: keyof typeof FIELDS;
  label?: string;
  /** That of the form: its field shows what is wrong with it. */
  error: Error | null;
}

export function AuthField({ kind, error, ...rest }: FieldProps) {
  const field = kind === "newPassword" ? "password" : kind;
  const message = error instanceof ApiError ? error.about(field) : undefined;
  return <TextField {...FIELDS[kind]} error={message} {...rest} />;
}
