/** All experiments, the newest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FlaskConical, Plus } from "lucide-react";
import { api, unwrapPage } from "@/lib/api";
import { useUrlState } from "@/lib/url";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { PageBody } from "@/ui/Panel";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Tabs } from "@/ui/Tabs";
import { Time } from "@/ui/Time";
import { type Experiment, metricLabel, STATUS_TONES } from "./labels";

const STATUSES = ["running", "paused", "draft", "stopped"] as const;

function useExperiments(status: string) {
  return useInfiniteQuery({
    queryKey: ["experiments", "list", status],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/experiments", {
          params: {
            query: {
              limit: 50,
              skip: pageParam,
              status: (status || undefined) as Experiment["status"] | undefined,
            },
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
  });
}

export default function ExperimentsPage() {
  const [status, setStatus] = useUrlState("status", "");
  const list = useExperiments(status);
  const navigate = useNavigate();
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  const create = (
    <RoleButton
      needs="editor"
      kind="primary"
      icon={<Plus className="size-4" />}
      onClick={() => void navigate({ to: "/experiments/new" })}
    >
      New experiment
    </RoleButton>
  );
  return (
    <PageBody title="Experiments" actions={create}>
      <div className="rounded-lg border bg-surface">
        <Tabs
          label="Status"
          value={status || "all"}
          onChange={(id) => setStatus(id === "all" ? "" : id)}
          tabs={[
            { id: "all", label: "All" },
            ...STATUSES.map((id) => ({ id, label: id[0]?.toUpperCase() + id.slice(1) })),
          ]}
        />
        {list.isPending && <SkeletonRows rows={6} />}
        {list.isError && rows.length === 0 && (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        )}
        {list.isSuccess && rows.length === 0 && (
          <EmptyState
            icon={<FlaskConical className="size-6" />}
            title={status ? `No ${status} experiments` : "No experiments yet"}
            action={!status && create}
          >
            Assign prompts, models or tools at random and see which one performs better. Results are
            valid at any time.
          </EmptyState>
        )}
        <ul className="@container">
          {rows.map((experiment) => (
            <Row key={experiment.id} experiment={experiment} />
          ))}
        </ul>
        {list.hasNextPage && (
          <div className="p-3 text-center">
            <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Older experiments
            </Button>
          </div>
        )}
      </div>
    </PageBody>
  );
}

function Row({ experiment }: { experiment: Experiment }) {
  const primary = experiment.metrics.find((metric) => metric.primary);
  return (
    <li className="relative flex flex-wrap items-center @2xl:flex-nowrap gap-x-4 gap-y-1 border-b px-3.5 py-2.5 last:border-0 hover:bg-hover">
      <span className="w-20 shrink-0">
        <Badge tone={STATUS_TONES[experiment.status]}>{experiment.status}</Badge>
      </span>
      <span className="min-w-0 flex-1 basis-64">
        <Link
          to="/experiments/$experimentId"
          params={{ experimentId: experiment.id }}
          className="block truncate font-medium after:absolute after:inset-0"
        >
          {experiment.name}
        </Link>
        <span className="block truncate text-sm text-muted">
          {experiment.hypothesis ?? experiment.description}
        </span>
      </span>
      <span className="w-52 shrink-0 truncate text-sm @max-4xl:hidden">
        {experiment.variants.map((variant) => variant.key).join(" · ")}
      </span>
      <span className="w-32 shrink-0 truncate text-sm @max-2xl:hidden">
        {metricLabel(primary)} {primary?.direction === "decrease" ? "↓" : "↑"}
      </span>
      <span className="text-sm text-muted @2xl:w-36 @2xl:shrink-0 @2xl:text-right">
        {experiment.winner ? (
          <Badge tone="good">{experiment.winner} won</Badge>
        ) : (
          <Time at={experiment.startedAt ?? experiment.createdAt} />
        )}
      </span>
    </li>
  );
}
