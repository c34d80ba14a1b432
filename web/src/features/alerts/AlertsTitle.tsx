/** The title of the alert pages, with links between them. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { cx } from "@/ui/cx";

const PAGES = [
  { to: "/alerts", label: "Alerts" },
  { to: "/alerts/rules", label: "Rules" },
  { to: "/alerts/silences", label: "Silences" },
] as const;

interface Props {
  page: (typeof PAGES)[number]["to"];
  actions?: ReactNode;
}

export function AlertsTitle({ page, actions }: Props) {
  const title = PAGES.find((one) => one.to === page)?.label;
  return (
    <div className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 px-4 py-1.5">
      <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
      <nav aria-label="Alert pages" className="flex gap-1">
        {PAGES.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            aria-current={to === page ? "page" : undefined}
            className={cx(
              "rounded-md px-2 py-1",
              to === page ? "bg-accent-soft text-accent" : "text-muted hover:bg-hover",
            )}
          >
            {label}
          </Link>
        ))}
      </nav>
      <div className="ml-auto flex items-center gap-2">{actions}</div>
    </div>
  );
}
