/** Creates a draft. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, type Schemas, unwrap } from "@/lib/api";
import { PageBody } from "@/ui/Panel";
import { emptyDraft } from "./draft";
import { useDraft } from "./useDraft";
import { Wizard } from "./Wizard";

const EMPTY = emptyDraft();

export default function NewExperimentPage() {
  const kept = useDraft("new", EMPTY);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: (body: Schemas["NewExperiment"]) => unwrap(api.POST("/api/experiments", { body })),
    onSuccess: ({ id }) => {
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
    <PageBody
      title="New experiment"
      crumbs={[{ label: "Experiments", to: "/experiments" }]}
      isNarrow
    >
      <Wizard
        kept={kept}
        onSubmit={(body) => create.mutate(body)}
        submitLabel="Create draft"
        isBusy={create.isPending}
        error={create.error}
      />
    </PageBody>
  );
}
