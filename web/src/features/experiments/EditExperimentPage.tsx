/** Changes a draft. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { api, type Schemas, unwrap } from "@/lib/api";
import { PageBody } from "@/ui/Panel";
import { ErrorState, Skeleton } from "@/ui/states";
import { fromExperiment, useDraft } from "./draft";
import type { Experiment } from "./labels";
import { Wizard } from "./Wizard";

export default function EditExperimentPage() {
  const { experimentId: id } = useParams({ strict: false }) as { experimentId: string };
  const { data, error, refetch } = useQuery({
    queryKey: ["experiments", "one", id],
    queryFn: () => unwrap(api.GET("/api/experiments/{id}", { params: { path: { id } } })),
  });
  return (
    <PageBody title={data ? `Edit ${data.name}` : "Edit experiment"} isNarrow>
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data ? <Form experiment={data} /> : !error && <Skeleton className="h-96" />}
    </PageBody>
  );
}

function Form({ experiment }: { experiment: Experiment }) {
  const { id } = experiment;
  const { draft, change, clear } = useDraft(id, () => fromExperiment(experiment));
  const queries = useQueryClient();
  const navigate = useNavigate();
  const save = useMutation({
    mutationFn: (body: Schemas["NewExperiment"]) =>
      unwrap(api.PUT("/api/experiments/{id}", { params: { path: { id } }, body })),
    onSuccess: () => {
      clear();
      void queries.invalidateQueries({ queryKey: ["experiments"] });
      void navigate({
        to: "/experiments/$experimentId",
        params: { experimentId: id } as never,
        search: { step: undefined } as never,
      });
    },
  });
  return (
    <Wizard
      draft={draft}
      onChange={change}
      onSubmit={(body) => save.mutate(body)}
      submitLabel="Save draft"
      isBusy={save.isPending}
      error={save.error}
    />
  );
}
