/** The layout of the pages before signing in. */
import { type ReactNode, useEffect } from "react";
import { ApiError } from "@/lib/api";
import { Logo } from "./Logo";

interface Props {
  title: string;
  children: ReactNode;
  footer?: ReactNode;
}

export function AuthFrame({ title, children, footer }: Props) {
  useEffect(() => {
    document.title = `${title} · Spanwise`;
  }, [title]);
  return (
    <main className="flex min-h-dvh flex-col items-center px-4 py-[12vh]">
      <div className="w-full max-w-88">
        <div className="mb-6 flex items-center gap-2 text-lg font-semibold tracking-tight">
          <Logo /> Spanwise
        </div>
        <h1 className="mb-4 text-2xl font-semibold tracking-tight">{title}</h1>
        {children}
        {footer && <div className="mt-5 text-muted">{footer}</div>}
      </div>
    </main>
  );
}

/** The fields of the forms, which show what is wrong with them. */
const FIELDS = ["name", "email", "password"];

/** An error that belongs to no field: also one of the token in the link that was opened. */
export function FormError({ error }: { error: Error | null }) {
  const details = error instanceof ApiError ? error.details : [];
  const others = details.filter(({ field }) => !FIELDS.includes(field));
  if (!error || (details.length > 0 && others.length === 0)) return null;
  const token = others.find(({ field }) => field === "token");
  return (
    <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
      {token ? `This link ${token.message}.` : error.message}
    </p>
  );
}

export function Notice({ children }: { children: ReactNode }) {
  return (
    <p role="status" className="rounded-md bg-info-soft px-3 py-2 text-info">
      {children}
    </p>
  );
}
