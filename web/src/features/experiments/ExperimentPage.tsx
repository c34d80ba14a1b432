/** One experiment: the verdict in a sentence, the intervals, how they came, and how to ask. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Pause, Play, Square, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, unwrap } from "@/lib/api";
import { formatCount, formatPercent } from "@/lib/format";
import { useUrlState } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CopyId } from "@/ui/Copy";
import { cx } from "@/ui/cx";
import { Dialog } from "@/ui/Dialog";
import { Field, Select } from "@/ui/Field";
import { PageBody, Panel } from "@/ui/Panel";
import { EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";
import { IntervalPlot } from "./IntervalPlot";
import { OverTime } from "./OverTime";
import { ResultsTable } from "./ResultsTable";
import { Snippets } from "./Snippets";
import { DECISIONS, type Experiment, type Results, STATUS_TONES } from "./words";

export default function ExperimentPage() {
  const { experimentId: id } = useParams({ strict: false }) as { experimentId: string };
  const found = useQuery({
    queryKey: ["experiments", "one", id],
    queryFn: () => unwrap(api.GET("/api/experiments/{id}", { params: { path: { id } } })),
  });
  if (found.error) {
    return (
      <ErrorState error={found.error} onRetry={() => void found.refetch()}>
        <Link to="/experiments" className="text-accent hover:underline">
          All experiments
        </Link>
      </ErrorState>
    );
  }
  const experiment = found.data;
  return (
    <PageBody
      title={
        experiment ? (
          <span className="flex flex-wrap items-center gap-2">
            {experiment.name}
            <Badge tone={STATUS_TONES[experiment.status]}>{experiment.status}</Badge>
          </span>
        ) : (
          <Skeleton className="h-6 w-60" />
        )
      }
      actions={experiment && <Actions experiment={experiment} />}
    >
      {experiment ? <Body experiment={experiment} /> : <Skeleton className="h-[40rem]" />}
    </PageBody>
  );
}

function Body({ experiment }: { experiment: Experiment }) {
  return (
    <div className="flex flex-col gap-3">
      <div className="-mt-2 flex flex-wrap gap-x-5 gap-y-1 text-muted">
        {experiment.hypothesis && <p>{experiment.hypothesis}</p>}
        <p className="flex flex-wrap items-center gap-x-4 text-sm">
          {experiment.agentId && <span>on {experiment.agentId}</span>}
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
          <span>{experiment.trafficPercent} % of traffic</span>
          <CopyId id={experiment.id} />
        </p>
      </div>
      {experiment.status === "draft" ? <DraftNote /> : <Outcome experiment={experiment} />}
      <Variants experiment={experiment} />
      {experiment.status !== "stopped" && <Snippets experiment={experiment} />}
    </div>
  );
}

function DraftNote() {
  return (
    <EmptyState title="Not started yet">
      Check the variants below, put the snippet into your application, then start it. Results appear
      with the first units.
    </EmptyState>
  );
}

function Outcome({ experiment }: { experiment: Experiment }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["experiments", "results", experiment.id],
    queryFn: () =>
      unwrap(api.GET("/api/experiments/{id}/results", { params: { path: { id: experiment.id } } })),
    refetchInterval: experiment.status === "running" ? 60_000 : false,
  });
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
        unit="95 % intervals, valid at every look"
        actions={<span className="max-sm:hidden">{formatCount(data.units)} units</span>}
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

const BANNERS = {
  good: "border-good bg-good-soft",
  bad: "border-bad bg-bad-soft",
  info: "border-info bg-info-soft",
  neutral: "bg-surface",
  warning: "bg-surface",
  accent: "bg-surface",
};

function VerdictBanner({ experiment, results }: { experiment: Experiment; results: Results }) {
  const { word, tone } = DECISIONS[results.verdict.decision];
  const ships = results.verdict.decision === "ship" ? `: ${results.verdict.variant}` : "";
  return (
    <div role="status" className={cx("rounded-lg border px-4 py-3", BANNERS[tone])}>
      <p className="text-lg font-semibold">
        {word}
        {ships}
        {experiment.winner && (
          <span className="font-normal text-muted"> · {experiment.winner} won and is in force</span>
        )}
      </p>
      <p className="mt-0.5">{results.verdict.reason}</p>
    </div>
  );
}

function RatioWarning({ results }: { results: Results }) {
  const split = results.perVariant
    .map(
      (one) =>
        `${one.variant} ${formatPercent(one.share)} instead of ${formatPercent(one.expectedShare)}`,
    )
    .join(", ");
  return (
    <div role="alert" className="rounded-lg border border-warning bg-warning-soft px-4 py-3">
      <p className="font-semibold">The split is not what it should be</p>
      <p className="mt-0.5">
        {split}. Somewhere units of one variant get lost, for example because a variant fails before
        it is recorded. Until that is found, no difference below can be trusted.
      </p>
    </div>
  );
}

function Variants({ experiment }: { experiment: Experiment }) {
  const total = experiment.variants.reduce((sum, variant) => sum + variant.weight, 0);
  return (
    <Panel title="Variants">
      <ul>
        {experiment.variants.map((variant, index) => (
          <li
            key={variant.key}
            className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-b py-1 last:border-0"
          >
            <span className="w-32 truncate font-medium">{variant.key}</span>
            <span className="min-w-32 flex-1 truncate text-muted">{variant.name}</span>
            {index === 0 && <Badge>control</Badge>}
            {experiment.winner === variant.key && <Badge tone="good">winner</Badge>}
            <span className="w-16 text-right">{formatPercent(variant.weight / total)}</span>
            <code className="w-full truncate font-mono text-sm text-muted md:w-72">
              {JSON.stringify(variant.config)}
            </code>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

type Move = "start" | "pause" | "stop" | "delete";

function useMove(experiment: Experiment) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { path: { id: experiment.id } };
  return useMutation({
    mutationFn: async ({ move, winner }: { move: Move; winner?: string | undefined }) => {
      if (move === "start") {
        await unwrap(api.POST("/api/experiments/{id}/start", { params: path }));
      } else if (move === "pause") {
        await unwrap(api.POST("/api/experiments/{id}/pause", { params: path }));
      } else if (move === "stop") {
        await unwrap(
          api.POST("/api/experiments/{id}/stop", {
            params: path,
            body: { winner: winner ?? null },
          }),
        );
      } else {
        await unwrap(api.DELETE("/api/experiments/{id}", { params: path }));
      }
      return move;
    },
    onSuccess: (move) => {
      if (move === "delete") void navigate({ to: "/experiments" });
      void queries.invalidateQueries({ queryKey: ["experiments"] });
      toast({ start: "Running.", pause: "Paused.", stop: "Stopped.", delete: "Deleted." }[move]);
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

function Actions({ experiment }: { experiment: Experiment }) {
  const move = useMove(experiment);
  const [asks, setAsks] = useState<"stop" | "delete" | null>(null);
  const [winner, setWinner] = useState("");
  const { status } = experiment;
  return (
    <>
      {(status === "draft" || status === "paused") && (
        <Button
          kind="primary"
          busy={move.isPending}
          icon={<Play className="size-3.5" />}
          onClick={() => move.mutate({ move: "start" })}
        >
          {status === "draft" ? "Start" : "Go on"}
        </Button>
      )}
      {status === "running" && (
        <Button
          busy={move.isPending}
          icon={<Pause className="size-3.5" />}
          onClick={() => move.mutate({ move: "pause" })}
        >
          Pause
        </Button>
      )}
      {(status === "running" || status === "paused") && (
        <Button icon={<Square className="size-3.5" />} onClick={() => setAsks("stop")}>
          Stop
        </Button>
      )}
      {status !== "running" && (
        <Button
          kind="danger"
          aria-label="Delete"
          icon={<Trash2 className="size-3.5" />}
          onClick={() => setAsks("delete")}
        />
      )}
      <Dialog
        isOpen={asks === "stop"}
        onClose={() => setAsks(null)}
        title="Stop the experiment"
        footer={
          <>
            <Button onClick={() => setAsks(null)}>Cancel</Button>
            <Button
              kind="primary"
              onClick={() => {
                move.mutate({ move: "stop", winner: winner || undefined });
                setAsks(null);
              }}
            >
              Stop for good
            </Button>
          </>
        }
      >
        <Field
          label="From now on everybody gets"
          hint="A stopped experiment cannot be started again."
        >
          {(props) => (
            <Select
              {...props}
              className="w-full max-w-none"
              value={winner}
              onChange={setWinner}
              options={[
                { value: "", label: `${experiment.variants[0]?.key} (the control, no winner)` },
                ...experiment.variants.map((one) => ({ value: one.key, label: one.key })),
              ]}
            />
          )}
        </Field>
      </Dialog>
      <Dialog
        isOpen={asks === "delete"}
        onClose={() => setAsks(null)}
        title={`Delete ${experiment.name}?`}
        footer={
          <>
            <Button onClick={() => setAsks(null)}>Cancel</Button>
            <Button kind="danger" onClick={() => move.mutate({ move: "delete" })}>
              Delete
            </Button>
          </>
        }
      >
        Its definition goes; the traces and signals that it has stay.
      </Dialog>
    </>
  );
}
