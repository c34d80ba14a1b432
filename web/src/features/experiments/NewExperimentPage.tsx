/** Creates a draft. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, type Schemas, unwrap } from "@/lib/api";
import { PageBody } from "@/ui/Panel";
import { emptyDraft, useDraft } from "./draft";
import { Wizard } from "./Wizard";

export default function NewExperimentPage() {
  const { draft, change, clear } = useDraft("new", emptyDraft);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: (body: Schemas["NewExperiment"]) => unwrap(api.POST("/api/experiments", { body })),
    onSuccess: ({ id }) => {
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
    <PageBody title="New experiment" isNarrow>
      <Wizard
        draft={draft}
        onChange={change}
        onSubmit={(body) => create.mutate(body)}
        submitLabel="Create draft"
        isBusy={create.isPending}
        error={create.error}
      />
    </PageBody>
  );
}
