import { Link } from "@tanstack/react-router";
import { PanelLeft } from "lucide-react";
import { useState } from "react";
import { useAlertSummary, useProfile } from "@/lib/queries";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { GROUPS, PAGES, type Page } from "./pages";
import { UserMenu } from "./UserMenu";

const KEY = "spanwise.rail";

interface Props {
  isOpen: boolean;
  onClose: () => void;
}

/** Icons and words, or icons alone; on a phone a drawer. */
export function Rail({ isOpen, onClose }: Props) {
  const [isNarrow, setNarrow] = useState(localStorage.getItem(KEY) === "narrow");
  const toggle = () => {
    localStorage.setItem(KEY, isNarrow ? "wide" : "narrow");
    setNarrow(!isNarrow);
  };
  return (
    <>
      {isOpen && (
        <button
          type="button"
          aria-label="Close the menu"
          onClick={onClose}
          className="fixed inset-0 z-40 bg-[rgb(10_9_8/45%)] md:hidden"
        />
      )}
      <nav
        aria-label="Pages"
        className={cx(
          "z-40 flex shrink-0 flex-col border-r bg-bg max-md:fixed max-md:inset-y-0 max-md:left-0 max-md:w-60",
          !isOpen && "max-md:hidden",
          isNarrow ? "md:w-13" : "md:w-48",
        )}
      >
        <div
          className={cx(
            "flex h-12 items-center gap-2",
            isNarrow ? "px-3 md:justify-center" : "px-3.5",
          )}
        >
          <Logo />
          <span className={cx("font-semibold tracking-tight", isNarrow && "md:hidden")}>
            Spanwise
          </span>
        </div>
        <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
          {GROUPS.map((group) => (
            <Group
              key={group.id}
              id={group.id}
              title={group.title}
              isNarrow={isNarrow}
              onPick={onClose}
            />
          ))}
        </div>
        <div
          className={cx("flex items-center gap-1 border-t p-2", isNarrow && "md:flex-col-reverse")}
        >
          <UserMenu isNarrow={isNarrow} />
          <Button
            kind="quiet"
            size="small"
            className="max-md:hidden"
            aria-label={isNarrow ? "Widen the rail" : "Narrow the rail"}
            onClick={toggle}
            icon={<PanelLeft className="size-4" />}
          />
        </div>
      </nav>
    </>
  );
}

interface GroupProps {
  id: string;
  title: string;
  isNarrow: boolean;
  onPick: () => void;
}

function Group({ id, title, isNarrow, onPick }: GroupProps) {
  const { data: profile } = useProfile();
  const pages = PAGES.filter(
    (page) => page.icon && page.group === id && (!page.adminOnly || profile?.role === "admin"),
  );
  if (pages.length === 0) return null;
  return (
    <div className="mb-3">
      <h2 className={cx("px-2 pb-1 text-xs text-faint", isNarrow && "md:hidden")}>{title}</h2>
      {pages.map((page) => (
        <RailLink key={page.path} page={page} isNarrow={isNarrow} onPick={onPick} />
      ))}
    </div>
  );
}

function RailLink({
  page,
  isNarrow,
  onPick,
}: {
  page: Page;
  isNarrow: boolean;
  onPick: () => void;
}) {
  const Icon = page.icon;
  return (
    <Link
      to={page.path}
      onClick={onPick}
      title={isNarrow ? page.title : undefined}
      activeOptions={{ exact: page.path === "/", includeSearch: false }}
      activeProps={{ className: "bg-raised text-fg font-medium" }}
      inactiveProps={{ className: "text-muted hover:bg-hover hover:text-fg" }}
      className={cx(
        "flex h-8 items-center gap-2.5 rounded-md px-2",
        isNarrow && "md:justify-center",
      )}
    >
      {Icon && <Icon className="size-4 shrink-0" aria-hidden />}
      <span className={cx("truncate", isNarrow && "md:sr-only")}>{page.title}</span>
      {page.path === "/alerts" && <ActiveAlerts isNarrow={isNarrow} />}
    </Link>
  );
}

function ActiveAlerts({ isNarrow }: { isNarrow: boolean }) {
  const { data } = useAlertSummary();
  if (!data?.active) return null;
  return (
    <span
      title={`${data.active} active`}
      className={cx(
        "ml-auto rounded bg-bad-soft px-1.5 text-xs font-medium text-bad",
        isNarrow && "md:hidden",
      )}
    >
      {data.active}
    </span>
  );
}

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" className="size-5 shrink-0" aria-hidden>
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <g className="fill-on-accent">
        <rect x="6" y="8" width="20" height="4" rx="2" />
        <rect x="10" y="14" width="12" height="4" rx="2" opacity=".8" />
        <rect x="14" y="20" width="8" height="4" rx="2" opacity=".65" />
      </g>
    </svg>
  );
}
