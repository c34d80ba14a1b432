import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { fieldInfo } from "@/lib/filterFields";
import { narrowedList } from "@/lib/traceFilters";
import { useUrl } from "@/lib/url";
import { cx } from "@/ui/cx";

interface Props {
  field: string;
  value: string | number | boolean;
  className?: string;
  /** For assistive technology, where the content does not say it. */
  label?: string;
  title?: string;
  /** Shown instead of the value. */
  children?: ReactNode;
}

/** Opens the list from which the trace was opened, with only the traces that have the same value. */
export function FilterLink({ field, value, className, label, title, children }: Props) {
  const list = narrowedList(useUrl(), { field, op: "eq", value });
  return (
    <Link
      to="/traces"
      search={list}
      aria-label={label}
      title={title ?? `Traces with this ${fieldInfo(field).label.toLowerCase()}`}
      className={cx("hover:text-accent hover:underline", className)}
    >
      {children ?? String(value)}
    </Link>
  );
}
