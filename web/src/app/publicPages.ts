/** What a page is, and the pages that need no sign-in. */
import type { LucideIcon } from "lucide-react";
import type { FunctionComponent } from "react";
import type { Search } from "@/lib/url";

export interface PageCode {
  default: FunctionComponent;
  /** Prefetches the data that the page shows first, before the page is rendered. */
  prefetch?: (search: Search, params: Record<string, string>) => void;
}

export interface Page {
  path: string;
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
