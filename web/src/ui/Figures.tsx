import type { ReactNode } from "react";
import { cx } from "./cx";

/** A row of totals, which wraps on small screens. */
export function Figures({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <dl
      className={cx(
        "grid gap-3 [grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))]",
        className,
      )}
    >
      {children}
    </dl>
  );
}

interface Props {
  name: string;
  value: string;
  note?: string | undefined;
  isBad?: boolean;
}

export function Figure({ name, value, note, isBad }: Props) {
  return (
    <div className="min-w-0 rounded-lg border bg-surface px-3.5 py-2.5">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className={cx("truncate text-xl font-semibold", isBad && "text-bad")}>{value}</dd>
      {note && <dd className="truncate text-sm text-muted">{note}</dd>}
    </div>
  );
}
