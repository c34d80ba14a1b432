import type { ReactNode } from "react";
import { cx } from "./cx";

export type Tone = "neutral" | "good" | "warning" | "bad" | "info" | "accent";

const TONES: Record<Tone, string> = {
  neutral: "bg-raised text-muted",
  good: "bg-good-soft text-good",
  warning: "bg-warning-soft text-warning",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
  accent: "bg-accent-soft text-accent",
};

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={cx(
        "inline-flex h-5 shrink-0 items-center gap-1 rounded px-1.5 text-sm font-medium whitespace-nowrap",
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

/** A coloured dot beside the name of an agent, model or series. */
export function Dot({ colour, title }: { colour: string; title?: string }) {
  return (
    <span
      aria-hidden
      title={title}
      className="inline-block size-2 shrink-0 rounded-full"
      style={{ background: colour }}
    />
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded border border-line-strong bg-raised px-1 font-sans text-xs text-muted">
      {children}
    </kbd>
  );
}
