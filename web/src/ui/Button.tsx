import type { ButtonHTMLAttributes, ReactNode } from "react";
import { cx } from "./cx";

type Kind = "plain" | "primary" | "quiet" | "danger";

const KINDS: Record<Kind, string> = {
  plain: "border border-line-strong bg-surface hover:bg-hover",
  primary: "bg-accent text-on-accent hover:brightness-110 font-medium",
  quiet: "text-muted hover:bg-hover hover:text-fg",
  danger: "border border-line-strong bg-surface text-bad hover:bg-bad-soft",
};

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind;
  size?: "small" | "normal";
  busy?: boolean;
  icon?: ReactNode;
}

/** A button. An icon without text needs `aria-label`, which is also its tooltip. */
export function Button({ kind = "plain", size = "normal", busy, icon, children, ...rest }: Props) {
  const isIcon = children === undefined;
  return (
    <button
      type="button"
      title={rest["aria-label"]}
      aria-busy={busy}
      {...rest}
      disabled={rest.disabled || busy}
      className={cx(
        "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md whitespace-nowrap select-none disabled:opacity-55",
        size === "small" ? "h-7 text-sm" : "h-8",
        isIcon ? (size === "small" ? "w-7" : "w-8") : "px-2.5",
        KINDS[kind],
        rest.className,
      )}
    >
      {icon}
      {children}
    </button>
  );
}
