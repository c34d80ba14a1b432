import { Link } from "@tanstack/react-router";
import type { Search } from "@/lib/url";

export interface Crumb {
  label: string;
  to: string;
  /** The state of that page, such as the filters of a list. */
  search?: Search;
}

/** The pages above this one, before its title. */
export function Breadcrumb({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <nav aria-label="Breadcrumb" className="flex flex-wrap items-baseline gap-x-1.5 text-muted">
      {crumbs.map(({ label, to, search }) => (
        <span key={to} className="flex min-w-0 items-baseline gap-x-1.5">
          <Link
            to={to}
            search={search}
            className="[overflow-wrap:anywhere] hover:text-fg hover:underline"
          >
            {label}
          </Link>
          <span className="text-faint" aria-hidden>
            /
          </span>
        </span>
      ))}
    </nav>
  );
}
