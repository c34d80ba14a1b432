/** The pages that list traces, sessions, spans, tools and users, and show one of them. */
import { Layers, ListTree, MessagesSquare, UserRound, Wrench } from "lucide-react";
import type { Page } from "./publicPages";

const ALL = ["range", "environment", "agent"] as const;

export const TRACE_PAGES: readonly Page[] = [
  {
    path: "/traces",
    title: "Traces",
    icon: ListTree,
    key: "t",
    group: "observe",
    uses: ALL,
    load: () => import("@/features/traces/TracesPage"),
  },
  { path: "/traces/$traceId", title: "Trace", load: () => import("@/features/trace/TracePage") },
  { path: "/compare", title: "Compare traces", load: () => import("@/features/trace/ComparePage") },
  {
    path: "/sessions",
    title: "Sessions",
    icon: MessagesSquare,
    key: "s",
    group: "observe",
    uses: ALL,
    load: () => import("@/features/sessions/SessionsPage"),
  },
  {
    path: "/sessions/$sessionId",
    title: "Session",
    load: () => import("@/features/sessions/SessionPage"),
  },
  {
    path: "/spans",
    title: "Spans",
    icon: Layers,
    key: "p",
    group: "observe",
    uses: ALL,
    load: () => import("@/features/spans/SpansPage"),
  },
  {
    path: "/tools",
    title: "Tools",
    icon: Wrench,
    key: "r",
    group: "observe",
    uses: ALL,
    load: () => import("@/features/spans/ToolsPage"),
  },
  {
    path: "/users",
    title: "Users",
    icon: UserRound,
    key: "u",
    group: "observe",
    uses: ALL,
    load: () => import("@/features/users/UsersPage"),
  },
  {
    path: "/users/$userId",
    title: "User",
    uses: ALL,
    load: () => import("@/features/users/UserPage"),
  },
];
