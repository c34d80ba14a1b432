import { useNavigate } from "@tanstack/react-router";
import { LogOut, Monitor, Moon, Sun, UserRound } from "lucide-react";
import { useProfile } from "@/lib/queries";
import { session } from "@/lib/session";
import { setTheme, type Theme, useTheme } from "@/lib/theme";
import { cx } from "@/ui/cx";
import { Menu, MenuItem } from "@/ui/overlays";
import { PAGES } from "./pages";

const THEMES: { id: Theme; label: string; icon: typeof Sun }[] = [
  { id: "system", label: "As the system", icon: Monitor },
  { id: "light", label: "Light", icon: Sun },
  { id: "dark", label: "Dark", icon: Moon },
];

/** Who is signed in, the theme, and the way out. */
export function UserMenu({ isNarrow }: { isNarrow: boolean }) {
  const { data: profile } = useProfile();
  const navigate = useNavigate();
  const theme = useTheme();
  const hasProfile = PAGES.some((page) => page.path === "/profile");
  return (
    <div className="min-w-0 flex-1 [&>div>button]:w-full">
      <Menu
        ariaLabel="Your account"
        buttonClass="border-transparent bg-transparent px-2 text-muted"
        className="!top-auto bottom-full mb-1"
        label={
          <>
            <UserRound className="size-4 shrink-0" aria-hidden />
            <span className={cx("truncate", isNarrow && "md:hidden")}>{profile?.name ?? "…"}</span>
          </>
        }
      >
        {(close) => (
          <>
            <p className="max-w-56 truncate px-2 py-1.5 text-sm text-muted">{profile?.email}</p>
            {hasProfile && (
              <MenuItem
                onClick={() => {
                  close();
                  void navigate({ to: "/profile" });
                }}
              >
                <UserRound className="size-4" aria-hidden /> Profile
              </MenuItem>
            )}
            {THEMES.map(({ id, label, icon: Icon }) => (
              <MenuItem key={id} isActive={theme === id} onClick={() => setTheme(id)}>
                <Icon className="size-4" aria-hidden /> {label}
              </MenuItem>
            ))}
            <MenuItem
              onClick={() => {
                void navigate({ to: "/login" }).then(() => session.end());
              }}
            >
              <LogOut className="size-4" aria-hidden /> Sign out
            </MenuItem>
          </>
        )}
      </Menu>
    </div>
  );
}
