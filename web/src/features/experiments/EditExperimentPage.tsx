/** Changes a draft. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { api, type Schemas, unwrap } from "@/lib/api";
import { useShownName } from "@/lib/title";
import { PageBody } from "@/ui/Panel";
import { ErrorState, Skeleton } from "@/ui/states";
import { fromExperiment } from "./draft";
import type { Experiment } from "./labels";
import { useDraft } from "./useDraft";
import { Wizard } from "./Wizard";

export default function EditExperimentPage() {
  const { experimentId: id } = useParams({ strict: false }) as { experimentId: string };
  const { data, error, refetch } = useQuery({
    queryKey: ["experiments", "one", id],
    queryFn: () => unwrap(api.GET("/api/experiments/{id}", { params: { path: { id } } })),
  });
  useShownName(data?.name);
  return (
    <PageBody
      title={data ? "Edit" : "Edit experiment"}
      crumbs={[
        { label: "Experiments", to: "/experiments" },
        ...(data ? [{ label: data.name, to: `/experiments/${id}` }] : []),
      ]}
      isNarrow
    >
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data ? <Form key={id} experiment={data} /> : !error && <Skeleton className="h-96" />}
    </PageBody>
  );
}

function Form({ experiment }: { experiment: Experiment }) {
  const { id } = experiment;
  const kept = useDraft(id, fromExperiment(experiment));
  const queries = useQueryClient();
  const navigate = useNavigate();
  const save = useMutation({
    mutationFn: (body: Schemas["NewExperiment"]) =>
      unwrap(api.PUT("/api/experiments/{id}", { params: { path: { id } }, body })),
    onSuccess: () => {
      kept.clear();
      void queries.invalidateQueries({ queryKey: ["experiments"] });
      void navigate({
        to: "/experiments/$experimentId",
        params: { experimentId: id },
        search: { step: undefined },
      });
    },
  });
  return (
    <Wizard
      kept={kept}
      onSubmit={(body) => save.mutate(body)}
      submitLabel="Save draft"
      isBusy={save.isPending}
      error={save.error}
    />
  );
}
