/** Token prices per model: list prices, own prices, and models without a price. */
import { useQuery } from "@tanstack/react-query";
import { Coins } from "lucide-react";
import { api, type Schemas, unwrapPage } from "@/lib/api";
import { useCan } from "@/lib/roles";
import { useUrlState } from "@/lib/url";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Table } from "@/ui/Table";
import { priceColumns } from "./columns";
import { PriceDialog } from "./PriceDialog";

type Repricing = Schemas["Repricing"];

function useModels() {
  return useQuery({
    queryKey: ["models", "seen"],
    queryFn: () => unwrapPage(api.GET("/api/models", { params: { query: { limit: 100 } } })),
  });
}

/** Polls while earlier spans are being repriced. */
function useRepricing() {
  return useQuery({
    queryKey: ["models", "repricing"],
    queryFn: () =>
      unwrapPage(api.GET("/api/models/repricing", { params: { query: { limit: 20 } } })),
    refetchInterval: ({ state }) =>
      state.data?.items.some((task) => task.state !== "done") ? 2000 : false,
  });
}

export default function ModelsPage() {
  const models = useModels();
  const repricing = useRepricing();
  const isEditor = useCan()("editor");
  const [edited, setEdited] = useUrlState("model", "");
  const onOpen = ({ model }: Schemas["SeenModel"]) => setEdited(model);
  const rows = models.data?.items ?? [];
  const unpriced = rows.filter((model) => model.priceSource === "none");
  const running = repricing.data?.items.filter((task) => task.state !== "done") ?? [];
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-3 px-4 pt-4 pb-3 md:px-6">
        <h1 className="mr-auto text-xl font-semibold tracking-tight">Model prices</h1>
        <span className="text-sm text-muted">USD per 1M tokens</span>
      </div>
      {unpriced.length > 0 && (
        <p className="mx-4 mb-3 rounded-md bg-warning-soft px-3 py-2 text-warning md:mx-6">
          {unpriced.length === 1
            ? `${unpriced[0]?.model} has no price, so its calls cost nothing.`
            : `${unpriced.length} models have no price, so their calls cost nothing.`}{" "}
          When you set a price, earlier calls are repriced too.
        </p>
      )}
      {running.map((task) => (
        <Progress key={task.model} task={task} />
      ))}
      <div className="min-h-0 flex-1 border-t">
        {models.isPending && <SkeletonRows rows={8} />}
        {models.isError && (
          <ErrorState error={models.error} onRetry={() => void models.refetch()} />
        )}
        {models.data && rows.length === 0 && (
          <EmptyState icon={<Coins className="size-6" />} title="No models yet">
            The price depends on the model name of a span. List prices of most public models are
            included.
          </EmptyState>
        )}
        {rows.length > 0 && (
          <Table
            label="Models"
            columns={priceColumns(setEdited)}
            rows={rows}
            rowKey={(model) => `${model.provider}/${model.model}`}
            {...(isEditor && { onOpen })}
            minWidth="56rem"
            rowHeight={36}
          />
        )}
      </div>
      {isEditor && (
        <PriceDialog
          key={edited}
          name={edited}
          model={rows.find((model) => model.model === edited)}
          onClose={() => setEdited("")}
        />
      )}
    </div>
  );
}

function Progress({ task }: { task: Repricing }) {
  const share = task.monthsTotal ? task.monthsDone / task.monthsTotal : 0;
  return (
    <div role="status" className="mx-4 mb-3 md:mx-6">
      <p className="mb-1 text-sm text-muted">
        Repricing earlier calls of {task.model}: {task.monthsDone} of {task.monthsTotal} months
      </p>
      <div className="h-1 rounded-full bg-raised">
        <div
          className="h-full rounded-full bg-accent transition-[width]"
          style={{ width: `${Math.max(4, share * 100)}%` }}
        />
      </div>
    </div>
  );
}
