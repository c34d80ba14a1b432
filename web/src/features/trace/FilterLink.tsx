import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { fieldInfo, writeConditions } from "@/lib/conditions";
import { cx } from "@/ui/cx";

interface Props {
  field: string;
  value: string | number | boolean;
  className?: string;
  /** Shown instead of the value. */
  children?: ReactNode;
}

/** Opens the traces that have the same value. */
export function FilterLink({ field, value, className, children }: Props) {
  const label = fieldInfo(field).label;
  return (
    <Link
      to="/traces"
      search={{ filters: writeConditions([{ field, op: "eq", value }]) } as never}
      title={`Traces with this ${label.toLowerCase()}`}
      className={cx("hover:text-accent hover:underline", className)}
    >
      {children ?? String(value)}
    </Link>
  );
}
