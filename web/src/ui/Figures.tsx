import { Children, type ReactNode } from "react";
import { cx } from "./cx";

/** Six wrap into halves or thirds, not five and one. */
const SIX = "grid-cols-2 sm:grid-cols-3 xl:grid-cols-6";
const ANY = "[grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))]";

/** A row of totals, which wraps on small screens. */
export function Figures({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <dl className={cx("grid gap-3", Children.count(children) === 6 ? SIX : ANY, className)}>
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
