import type { ReactNode } from "react";
import { Breadcrumb, type Crumb } from "./Breadcrumb";
import { cx } from "./cx";

interface Props {
  title: ReactNode;
  /** The unit of the numbers: `ms`, `USD`. */
  unit?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}

/** A bordered section of a page with a title. */
export function Panel({ title, unit, actions, children, className }: Props) {
  return (
    <section className={cx("min-w-0 rounded-lg border bg-surface", className)}>
      <header className="flex h-10 items-center gap-2 px-3.5">
        <h2 className="min-w-0 truncate font-medium">{title}</h2>
        {unit && <span className="min-w-0 shrink-[999] truncate text-sm text-muted">{unit}</span>}
        <div className="ml-auto flex shrink-0 items-center gap-2 text-sm text-muted">{actions}</div>
      </header>
      <div className="px-3.5 pb-3">{children}</div>
    </section>
  );
}

interface ListTitleProps {
  children: ReactNode;
  note?: ReactNode;
  crumbs?: readonly Crumb[];
}

/** The title line of a page whose list fills the rest of it. */
export function ListTitle({ children, note, crumbs = [] }: ListTitleProps) {
  return (
    <div className="flex shrink-0 flex-wrap items-baseline gap-x-2 px-4 pt-3 pb-1">
      {crumbs.length > 0 && <Breadcrumb crumbs={crumbs} />}
      <h1 className="text-xl font-semibold tracking-tight">{children}</h1>
      <span className="text-sm text-muted">{note}</span>
    </div>
  );
}

interface BodyProps {
  title: ReactNode;
  crumbs?: readonly Crumb[];
  /** Badges and links next to the title that do not belong to the heading. */
  beside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** For text and forms. */
  isNarrow?: boolean;
}

/** The layout of a page: a title line and scrolling content. */
export function PageBody({ title, crumbs = [], beside, actions, children, isNarrow }: BodyProps) {
  return (
    <div data-scroller className="relative h-full overflow-auto">
      <div className={cx("mx-auto p-4 md:px-6", isNarrow ? "max-w-3xl" : "max-w-[100rem]")}>
        <header className="mb-3 flex min-h-8 flex-wrap items-center gap-2">
          <div className="mr-auto flex min-w-0 flex-wrap items-baseline gap-x-2 gap-y-1">
            {crumbs.length > 0 && <Breadcrumb crumbs={crumbs} />}
            <h1 className="min-w-0 text-xl font-semibold tracking-tight">{title}</h1>
            {beside && (
              <div className="flex flex-wrap items-center gap-2 self-center">{beside}</div>
            )}
          </div>
          <div className="flex flex-wrap items-center gap-2 empty:hidden">{actions}</div>
        </header>
        {children}
      </div>
    </div>
  );
}
