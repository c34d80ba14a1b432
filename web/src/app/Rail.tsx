import { Link } from "@tanstack/react-router";
import { PanelLeft } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useAlertSummary } from "@/lib/queries";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { Logo } from "@/ui/Logo";
import { GROUPS, type Page, usePermittedPages } from "./pages";

const UserMenu = lazy(() => import("./UserMenu"));
const Drawer = lazy(() => import("@/ui/Dialog").then((code) => ({ default: code.Drawer })));

const KEY = "spanwise.rail";

interface Props {
  isOpen: boolean;
  onClose: () => void;
}

/** Icons with or without words; on a phone it is a drawer. */
export function Rail({ isOpen, onClose }: Props) {
  const [isNarrow, setNarrow] = useState(localStorage.getItem(KEY) === "narrow");
  const [wasOpened, setWasOpened] = useState(false);
  if (isOpen && !wasOpened) setWasOpened(true);
  const toggle = () => {
    localStorage.setItem(KEY, isNarrow ? "wide" : "narrow");
    setNarrow(!isNarrow);
  };
  return (
    <>
      {wasOpened && (
        <Suspense>
          <Drawer
            isOpen={isOpen}
            onClose={onClose}
            title="Menu"
            isBare
            side="left"
            className="!w-60"
          >
            <Navigation isNarrow={false} onPick={onClose} />
          </Drawer>
        </Suspense>
      )}
      <div
        className={cx(
          "shrink-0 border-r in-[:fullscreen]:hidden max-md:hidden",
          isNarrow ? "w-13" : "w-48",
        )}
      >
        <Navigation isNarrow={isNarrow} onPick={onClose}>
          <Button
            kind="quiet"
            size="small"
            aria-label={isNarrow ? "Expand the sidebar" : "Collapse the sidebar"}
            onClick={toggle}
            icon={<PanelLeft className="size-4" />}
          />
        </Navigation>
      </div>
    </>
  );
}

interface NavigationProps {
  isNarrow: boolean;
  onPick: () => void;
  children?: ReactNode;
}

function Navigation({ isNarrow, onPick, children }: NavigationProps) {
  return (
    <nav aria-label="Pages" className="flex h-full flex-col bg-bg">
      <div
        className={cx("flex h-12 items-center gap-2", isNarrow ? "justify-center px-3" : "px-3.5")}
      >
        <Logo />
        {!isNarrow && <span className="font-semibold tracking-tight">Spanwise</span>}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
        {GROUPS.map((group) => (
          <Group key={group.id} {...group} isNarrow={isNarrow} onPick={onPick} />
        ))}
      </div>
      <div className={cx("flex items-center gap-1 border-t p-2", isNarrow && "flex-col-reverse")}>
        <Suspense fallback={<div className="h-8 flex-1" />}>
          <UserMenu isNarrow={isNarrow} />
        </Suspense>
        {children}
      </div>
    </nav>
  );
}

interface GroupProps {
  id: string;
  title: string;
  isNarrow: boolean;
  onPick: () => void;
}

function Group({ id, title, isNarrow, onPick }: GroupProps) {
  const pages = usePermittedPages().filter((page) => page.icon && page.group === id);
  if (pages.length === 0) return null;
  return (
    <div className="mb-3">
      <h2 className={cx("px-2 pb-1 text-xs text-faint", isNarrow && "hidden")}>{title}</h2>
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
      // All links fit into a window of 900 px.
      className={cx(
        "flex h-8 items-center gap-2.5 rounded-md px-2 md:h-7.5",
        isNarrow && "justify-center",
      )}
    >
      {Icon && <Icon className="size-4 shrink-0" aria-hidden />}
      <span className={cx("truncate", isNarrow && "sr-only")}>{page.title}</span>
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
        isNarrow && "hidden",
      )}
    >
      {data.active}
    </span>
  );
}
