import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { BellRing, Copy, Rocket } from "lucide-react";
import { ApiError } from "@/lib/api";
import { createDashboard, useDashboardChange } from "@/lib/dashboards";
import { OVERVIEW_COPY, OVERVIEW_PANELS } from "@/lib/overviewPanels";
import { useAlertSummary, useFilterValues } from "@/lib/queries";
import type { Step } from "@/lib/queryDraft";
import { useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { Select } from "@/ui/Field";
import { PageBody } from "@/ui/Panel";
import { PanelGrid } from "@/ui/query/PanelGrid";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, ErrorState } from "@/ui/states";
import { toast } from "@/ui/Toast";
import { ErrorShares, LatencyShares, ToolMap } from "./distributions";
import { ExploreLink } from "./ExploreLink";
import { ModelShares } from "./ModelShares";
import { useStep } from "./queries";

export default function OverviewPage() {
  const { data: known } = useFilterValues();
  const { step, setStep, steps } = useStep();
  if (known && known.agents.length === 0 && known.kinds.length === 0) return <NothingYet />;
  return (
    <PageBody
      title="Overview"
      actions={
        <>
          <ActiveAlerts />
          <Select
            aria-label="Interval"
            value={step}
            onChange={(value) => setStep(value as Step)}
            options={[{ value: "auto", label: "Interval: auto" }, ...steps]}
          />
          <CopyToDashboard />
        </>
      }
    >
      <Content />
    </PageBody>
  );
}

function Content() {
  const { step } = useStep();
  const queries = useQueryClient();
  const { error, data } = useFilterValues();
  // When the service is down every query fails: show one error.
  if (!data && error instanceof ApiError && error.status === 0) {
    return (
      <ErrorState error={error} onRetry={() => void queries.refetchQueries({ type: "active" })} />
    );
  }
  return (
    <>
      <PanelGrid
        panels={OVERVIEW_PANELS}
        step={step}
        decorate={(panel) => ({
          actions: panel.chart !== "number" && <ExploreLink panel={panel} step={step} />,
        })}
      />
      <div className="mt-3 grid gap-3 lg:grid-cols-3">
        <LatencyShares />
        <ModelShares />
        <ErrorShares />
        <ToolMap />
      </div>
    </>
  );
}

/** Opens the copy, where it can be changed. */
function CopyToDashboard() {
  const navigate = useNavigate();
  const copy = useDashboardChange(createDashboard, {
    onDone: ({ id }) =>
      void navigate({ to: "/dashboards/$dashboardId", params: { dashboardId: id } }),
    onError: (error) => toast(error.message, "bad"),
  });
  const body = { name: "Overview (copy)", isShared: false, panels: OVERVIEW_COPY };
  return (
    <RoleButton
      needs="editor"
      busy={copy.isPending}
      icon={<Copy className="size-3.5" />}
      onClick={() => copy.mutate(body)}
    >
      <span className="max-sm:sr-only">Copy to a dashboard</span>
    </RoleButton>
  );
}

/** Beside the title, so that nothing moves when it appears. */
function ActiveAlerts() {
  const { agent } = useUrl();
  const { data } = useAlertSummary();
  const count = agent
    ? data?.byAgent.find((one) => [one.agentName, one.agentId].includes(agent))?.active
    : data?.active;
  if (!count) return null;
  return (
    <Link
      to="/alerts"
      className="flex h-8 items-center gap-1.5 rounded-md bg-bad-soft px-2.5 text-bad hover:underline"
    >
      <BellRing className="size-3.5" aria-hidden />
      {count === 1 ? "1 active alert" : `${count} active alerts`}
    </Link>
  );
}

function NothingYet() {
  const navigate = useNavigate();
  return (
    <EmptyState
      isPage
      icon={<Rocket className="size-6" />}
      title="No traces yet"
      action={
        <Button kind="primary" onClick={() => void navigate({ to: "/start" })}>
          Send your first trace
        </Button>
      }
    >
      Requests, latency, cost and errors of your agents appear here with the first trace. To explore
      sample data, run <code className="font-mono text-sm">spanwise demo</code>.
    </EmptyState>
  );
}
