import type { KeyboardEvent, ReactNode } from "react";
import { cx } from "./cx";

interface Tab {
  id: string;
  label: ReactNode;
  count?: number;
}

interface Props {
  tabs: Tab[];
  value: string;
  onChange: (id: string) => void;
  label: string;
}

/** Tabs, on two lines where one is too short; keep the active one in the URL with useUrlState. */
export function Tabs({ tabs, value, onChange, label }: Props) {
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.stopPropagation();
    const at = tabs.findIndex((tab) => tab.id === value);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next) {
      onChange(next.id);
      event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
    }
  };
  return (
    <div
      role="tablist"
      aria-label={label}
      onKeyDown={move}
      className="flex flex-wrap gap-x-4 px-3 shadow-[inset_0_-1px_0_var(--line)]"
    >
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          data-tab={tab.id}
          aria-selected={tab.id === value}
          tabIndex={tab.id === value ? 0 : -1}
          onClick={() => onChange(tab.id)}
          className={cx(
            "flex h-9 items-center gap-1.5 border-b-2 whitespace-nowrap",
            tab.id === value
              ? "border-accent font-medium text-fg"
              : "border-transparent text-muted hover:text-fg",
          )}
        >
          {tab.label}
          {tab.count !== undefined && tab.count > 0 && (
            <span className="rounded bg-raised px-1 text-xs text-muted">{tab.count}</span>
          )}
        </button>
      ))}
    </div>
  );
}
