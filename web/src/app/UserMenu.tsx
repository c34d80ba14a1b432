import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LogOut, Monitor, Moon, Sun, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { useProfile } from "@/lib/queries";
import { session } from "@/lib/session";
import { signOut } from "@/lib/signIn";
import { setTheme, type Theme, useTheme } from "@/lib/theme";
import { cx } from "@/ui/cx";
import { Menu, MenuChoice, MenuItem } from "@/ui/Menu";
import { toast } from "@/ui/Toast";

const THEMES: { id: Theme; label: ReactNode }[] = [
  { id: "system", label: <ThemeLabel icon={Monitor} text="System theme" /> },
  { id: "light", label: <ThemeLabel icon={Sun} text="Light" /> },
  { id: "dark", label: <ThemeLabel icon={Moon} text="Dark" /> },
];

function ThemeLabel({ icon: Icon, text }: { icon: typeof Sun; text: string }) {
  return (
    <>
      <Icon className="size-4" aria-hidden /> {text}
    </>
  );
}

/** Who is signed in, the theme, and signing out. */
export default function UserMenu({ isNarrow }: { isNarrow: boolean }) {
  const { data: profile } = useProfile();
  const navigate = useNavigate();
  const theme = useTheme();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => void navigate({ to: "/login" }).then(() => session.end()),
    onError: (error) => toast(`You are still signed in. ${error.message}`, "bad"),
  });
  return (
    <div className="flex min-w-0 flex-1">
      <Menu
        ariaLabel="Your account"
        side="top"
        buttonClass="w-full border-transparent bg-transparent px-2 text-muted"
        label={
          <>
            <UserRound className="size-4 shrink-0" aria-hidden />
            <span className={cx("truncate", isNarrow && "hidden")}>{profile?.name ?? "…"}</span>
          </>
        }
      >
        <p className="max-w-56 truncate px-2 py-1.5 text-sm text-muted">{profile?.email}</p>
        <MenuItem onClick={() => void navigate({ to: "/profile" })}>
          <UserRound className="size-4" aria-hidden /> Profile
        </MenuItem>
        <MenuChoice label="Theme" value={theme} onChange={setTheme} options={THEMES} />
        <MenuItem onClick={() => leave.mutate()}>
          <LogOut className="size-4" aria-hidden /> Sign out
        </MenuItem>
      </Menu>
    </div>
  );
}
