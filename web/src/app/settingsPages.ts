/** Pages of the workspace, of the installation and of the person. */
import { Building2, Coins, KeyRound, Rocket, ShieldCheck } from "lucide-react";
import type { Page } from "./publicPages";

export const SETTINGS_PAGES: readonly Page[] = [
  {
    path: "/workspace",
    title: "Workspace",
    icon: Building2,
    key: "w",
    group: "settings",
    keywords: "members, invite a colleague, retention, masking, settings",
    load: () => import("@/features/workspace/WorkspacePage"),
  },
  {
    path: "/keys",
    title: "API keys",
    icon: KeyRound,
    key: "k",
    group: "settings",
    load: () => import("@/features/keys/KeysPage"),
  },
  {
    path: "/models",
    title: "Model prices",
    icon: Coins,
    key: "m",
    group: "settings",
    load: () => import("@/features/models/ModelsPage"),
  },
  {
    path: "/admin",
    title: "Administration",
    icon: ShieldCheck,
    group: "settings",
    adminOnly: true,
    load: () => import("@/features/admin/AdminPage"),
  },
  {
    path: "/profile",
    title: "Profile",
    keywords: "password, time zone, theme",
    load: () => import("@/features/profile/ProfilePage"),
  },
  {
    path: "/start",
    title: "Get started",
    icon: Rocket,
    group: "settings",
    load: () => import("@/features/start/StartPage"),
  },
];
