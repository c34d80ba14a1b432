/** One experiment: the verdict, the intervals, their trend, and how to integrate it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { api, unwrap } from "@/lib/api";
import { formatCounted } from "@/lib/format";
import { useAgentName } from "@/lib/queries";
import { useShownName } from "@/lib/title";
import { useUrlState } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { CopyId } from "@/ui/Copy";
import { PageBody, Panel } from "@/ui/Panel";
import { EmptyState, ErrorState, LoadingTitle, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { Actions } from "./Actions";
import { IntervalPlot } from "./IntervalPlot";
import { type Experiment, STATUS_TONES } from "./labels";
import { OverTime } from "./OverTime";
import { ResultsTable } from "./ResultsTable";
import { Snippets } from "./Snippets";
import { Variants } from "./Variants";
import { RatioWarning, VerdictBanner } from "./Verdict";

export default function ExperimentPage() {
  const { experimentId: id } = useParams({ strict: false }) as { experimentId: string };
  const found = useQuery({
    queryKey: ["experiments", "one", id],
    queryFn: () => unwrap(api.GET("/api/experiments/{id}", { params: { path: { id } } })),
  });
  useShownName(found.data?.name);
  if (found.error) {
    return (
      <ErrorState isPage error={found.error} onRetry={() => void found.refetch()}>
        <Link to="/experiments" className="text-accent hover:underline">
          All experiments
        </Link>
      </ErrorState>
    );
  }
  const experiment = found.data;
  return (
    <PageBody
      title={experiment?.name ?? <LoadingTitle>Experiment</LoadingTitle>}
      crumbs={[{ label: "Experiments", to: "/experiments" }]}
      beside={
        experiment && <Badge tone={STATUS_TONES[experiment.status]}>{experiment.status}</Badge>
      }
      actions={experiment && <ActionsWithResults experiment={experiment} />}
    >
      {experiment ? <Body experiment={experiment} /> : <Skeleton className="h-[40rem]" />}
    </PageBody>
  );
}

function Body({ experiment }: { experiment: Experiment }) {
  const agent = useAgentName(experiment.agentId);
  return (
    <div className="flex flex-col gap-3">
      <div className="-mt-2 flex flex-wrap gap-x-5 gap-y-1 text-muted">
        {experiment.hypothesis && <p>{experiment.hypothesis}</p>}
        <p className="flex flex-wrap items-center gap-x-4 text-sm">
          {agent && <span>on {agent}</span>}
          {experiment.startedAt && (
            <span>
              started <Time at={experiment.startedAt} />
            </span>
          )}
          {experiment.stoppedAt && (
            <span>
              stopped <Time at={experiment.stoppedAt} />
            </span>
          )}
          <span>{experiment.trafficPercent}% of traffic</span>
          <CopyId id={experiment.id} />
        </p>
      </div>
      {experiment.status === "draft" ? <DraftNote /> : <Outcome experiment={experiment} />}
      <Variants experiment={experiment} />
      {experiment.status !== "stopped" && <Snippets experiment={experiment} />}
    </div>
  );
}

function useResults(experiment: Experiment) {
  return useQuery({
    queryKey: ["experiments", "results", experiment.id],
    queryFn: () =>
      unwrap(api.GET("/api/experiments/{id}/results", { params: { path: { id: experiment.id } } })),
    enabled: experiment.status !== "draft",
    refetchInterval: experiment.status === "running" ? 60_000 : false,
  });
}

function ActionsWithResults({ experiment }: { experiment: Experiment }) {
  const verdict = useResults(experiment).data?.verdict;
  const recommended = verdict?.decision === "ship" ? (verdict.variant ?? undefined) : undefined;
  return <Actions experiment={experiment} recommended={recommended} />;
}

function DraftNote() {
  return (
    <EmptyState title="Not started yet">
      Check the variants below, add the snippet to your application, then start the experiment.
      Results appear with the first units.
    </EmptyState>
  );
}

function Outcome({ experiment }: { experiment: Experiment }) {
  const { data, error, refetch } = useResults(experiment);
  const [metric, setMetric] = useUrlState("metric", "");
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-[32rem]" />;
  const primary = data.metrics.find((one) => one.primary) ?? data.metrics[0];
  const shown = data.metrics.find((one) => one.key === metric) ?? primary;
  return (
    <>
      <VerdictBanner experiment={experiment} results={data} />
      {!data.srm.ok && <RatioWarning results={data} />}
      <Panel
        title="Lift against the control"
        unit="95% intervals, valid at any time"
        actions={<span className="max-sm:hidden">{formatCounted(data.units, "unit")}</span>}
      >
        <IntervalPlot
          experiment={experiment}
          results={data}
          chosen={shown?.key}
          onChoose={setMetric}
        />
      </Panel>
      {shown && <OverTime experiment={experiment} metric={shown} />}
      <ResultsTable experiment={experiment} results={data} />
    </>
  );
}
