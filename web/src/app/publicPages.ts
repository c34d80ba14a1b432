/** What a page is, and the pages that need no sign-in. */
import type { LucideIcon } from "lucide-react";
import type { FunctionComponent } from "react";
import type { Search } from "@/lib/url";

export interface PageCode {
  default: FunctionComponent;
  /** Prefetches the data that the page shows first, before the page is rendered. */
  prefetch?: (search: Search, params: Record<string, string>) => void;
}

/** The paths that links are checked against. The table's own would depend on the pages, and so on links. */
export type Path =
  | "/"
  | "/dashboards"
  | "/dashboards/$dashboardId"
  | "/explore"
  | "/signals"
  | "/logs"
  | "/metrics-explorer"
  | "/coding-agents"
  | "/agents"
  | "/agents/$agentId"
  | "/agents/$agentId/rules"
  | "/alerts"
  | "/alerts/rules"
  | "/alerts/rules/workspace"
  | "/alerts/silences"
  | "/failures"
  | "/changes"
  | "/experiments"
  | "/experiments/new"
  | "/experiments/$experimentId/edit"
  | "/experiments/$experimentId"
  | "/events"
  | "/traces"
  | "/traces/$traceId"
  | "/compare"
  | "/sessions"
  | "/sessions/$sessionId"
  | "/spans"
  | "/tools"
  | "/users"
  | "/users/$userId"
  | "/workspace"
  | "/keys"
  | "/models"
  | "/admin"
  | "/profile"
  | "/start"
  | "/login"
  | "/register"
  | "/forgot-password"
  | "/reset-password"
  | "/invitation"
  | "/verify-email";

export interface Page {
  path: Path;
  title: string;
  load: () => Promise<PageCode>;
  /** Pages with an icon are listed in the rail; `key` is pressed after `g`. */
  icon?: LucideIcon;
  key?: string;
  group?: "observe" | "improve" | "settings";
  /** Other words by which the palette finds the page. */
  keywords?: string;
  /** The top bar controls that the page uses. */
  uses?: readonly ("range" | "environment" | "agent")[];
  /** Accessible without signing in, and shown without the frame. */
  isPublic?: boolean;
  adminOnly?: boolean;
}

export const PUBLIC_PAGES: readonly Page[] = [
  {
    path: "/login",
    title: "Sign in",
    isPublic: true,
    load: () => import("@/features/auth/LoginPage"),
  },
  {
    path: "/register",
    title: "Create an account",
    isPublic: true,
    load: () => import("@/features/auth/RegisterPage"),
  },
  {
    path: "/forgot-password",
    title: "Forgot password",
    isPublic: true,
    load: () => import("@/features/auth/ForgotPage"),
  },
  {
    path: "/reset-password",
    title: "New password",
    isPublic: true,
    load: () => import("@/features/auth/ResetPage"),
  },
  {
    path: "/invitation",
    title: "Invitation",
    isPublic: true,
    load: () => import("@/features/workspace/InvitationPage"),
  },
  {
    path: "/verify-email",
    title: "Verify e-mail",
    isPublic: true,
    load: () => import("@/features/auth/VerifyPage"),
  },
];
