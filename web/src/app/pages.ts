/** The table of all pages: source of the router, the rail, the palette and the shortcuts. */
import {
  ArrowLeftRight,
  BellRing,
  Bot,
  Bug,
  ChartLine,
  FlaskConical,
  Gauge,
  LayoutDashboard,
  Rss,
  ScrollText,
  SquareTerminal,
  Telescope,
  ThumbsUp,
} from "lucide-react";
import { useProfile } from "@/lib/queries";
import { type Page, type PageCode, PUBLIC_PAGES } from "./publicPages";
import { SETTINGS_PAGES } from "./settingsPages";
import { TRACE_PAGES } from "./tracePages";

export type { Page } from "./publicPages";

const ALL = ["range", "environment", "agent"] as const;

const TABLE: readonly Page[] = [
  {
    path: "/",
    title: "Overview",
    icon: Gauge,
    key: "o",
    group: "observe",
    uses: ALL,
    load: () => import("@/features/overview/OverviewPage"),
  },
  {
    path: "/dashboards",
    title: "Dashboards",
    icon: LayoutDashboard,
    key: "b",
    group: "observe",
    load: () => import("@/features/dashboards/DashboardsPage"),
  },
  {
    path: "/dashboards/$dashboardId",
    title: "Dashboard",
    uses: ALL,
    load: () => import("@/features/dashboards/DashboardPage"),
  },
  {
    path: "/explore",
    title: "Explore",
    icon: Telescope,
    key: "x",
    group: "observe",
    uses: ["range"],
    load: () => import("@/features/explore/ExplorePage"),
  },
  ...TRACE_PAGES,
  {
    path: "/signals",
    title: "Signals",
    icon: ThumbsUp,
    key: "i",
    group: "observe",
    uses: ["range", "agent"],
    load: () => import("@/features/signals/SignalsPage"),
  },
  {
    path: "/logs",
    title: "Logs",
    icon: ScrollText,
    key: "l",
    group: "observe",
    uses: ["range", "agent"],
    load: () => import("@/features/logs/LogsPage"),
  },
  {
    // Not `/metrics`, where the service has its own metrics for Prometheus.
    path: "/metrics-explorer",
    title: "Metrics",
    icon: ChartLine,
    key: "c",
    group: "observe",
    uses: ["range"],
    load: () => import("@/features/metrics/MetricsPage"),
  },
  {
    path: "/coding-agents",
    title: "Coding agents",
    icon: SquareTerminal,
    key: "d",
    group: "observe",
    uses: ["range"],
    load: () => import("@/features/codingAgents/CodingAgentsPage"),
  },
  {
    path: "/agents",
    title: "Agents",
    icon: Bot,
    key: "a",
    group: "observe",
    uses: ["range"],
    load: () => import("@/features/agents/AgentsPage"),
  },
  {
    path: "/agents/$agentId",
    title: "Agent",
    uses: ["range", "environment"],
    load: () => import("@/features/agents/AgentPage"),
  },
  {
    path: "/agents/$agentId/rules",
    title: "Alert rules",
    load: () => import("@/features/agents/RulesPage"),
  },
  {
    path: "/alerts",
    title: "Alerts",
    icon: BellRing,
    key: "n",
    group: "improve",
    uses: ["agent"],
    load: () => import("@/features/alerts/AlertsPage"),
  },
  {
    path: "/alerts/rules",
    title: "Rules",
    keywords: "thresholds",
    load: () => import("@/features/alerts/RulesPage"),
  },
  {
    path: "/alerts/rules/workspace",
    title: "Rules for all agents",
    keywords: "add a rule for all agents, notify, slack, e-mail",
    load: () => import("@/features/alerts/WorkspaceRulesPage"),
  },
  {
    path: "/alerts/silences",
    title: "Silences",
    keywords: "mute notifications",
    load: () => import("@/features/alerts/SilencesPage"),
  },
  {
    path: "/failures",
    title: "Failures",
    keywords: "errors, exceptions",
    icon: Bug,
    key: "f",
    group: "improve",
    uses: ALL,
    load: () => import("@/features/failures/FailuresPage"),
  },
  {
    path: "/changes",
    title: "Changes",
    icon: ArrowLeftRight,
    key: "h",
    group: "improve",
    keywords: "compare releases, versions, models, periods",
    uses: ALL,
    load: () => import("@/features/changes/ChangesPage"),
  },
  {
    path: "/experiments",
    title: "Experiments",
    icon: FlaskConical,
    key: "e",
    group: "improve",
    load: () => import("@/features/experiments/ExperimentsPage"),
  },
  {
    path: "/experiments/new",
    title: "New experiment",
    load: () => import("@/features/experiments/NewExperimentPage"),
  },
  {
    path: "/experiments/$experimentId/edit",
    title: "Edit experiment",
    load: () => import("@/features/experiments/EditExperimentPage"),
  },
  {
    path: "/experiments/$experimentId",
    title: "Experiment",
    load: () => import("@/features/experiments/ExperimentPage"),
  },
  {
    path: "/events",
    title: "Events",
    icon: Rss,
    key: "v",
    group: "improve",
    load: () => import("@/features/events/EventsPage"),
  },
  ...SETTINGS_PAGES,
  ...PUBLIC_PAGES,
];

/** Caches loaded code: importing it again delays a click by 40 ms. */
function cacheLoad(load: Page["load"]): Page["load"] {
  let code: PageCode | undefined;
  return async () => {
    code ??= await load();
    return code;
  };
}

export const PAGES = TABLE.map((page): Page => ({ ...page, load: cacheLoad(page.load) }));

/** Those that this person may open. */
export function usePermittedPages(): Page[] {
  const { data: profile } = useProfile();
  return PAGES.filter((page) => !page.adminOnly || profile?.role === "admin");
}

export const GROUPS = [
  { id: "observe", title: "Observe" },
  { id: "improve", title: "Improve" },
  { id: "settings", title: "Settings" },
] as const;
