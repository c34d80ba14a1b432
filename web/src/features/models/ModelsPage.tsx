/** Prices per model: list prices, own prices, and usage without a price. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Coins, Plus } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { formatCompact, formatCounted } from "@/lib/format";
import { useCan } from "@/lib/roles";
import { useUrlState } from "@/lib/url";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Table } from "@/ui/Table";
import { Tabs } from "@/ui/Tabs";
import { type Model, priceColumns } from "./columns";
import { draftOf, draftOfPrice, NEW_PRICE, type PriceDraft } from "./drafts";
import { OwnPrices, useOwnPrices } from "./OwnPrices";
import { PriceDialog } from "./PriceDialog";

type Repricing = Schemas["Repricing"];
const SHOWN_MODELS = 3;

function useModels() {
  return useQuery({
    queryKey: ["models", "seen"],
    queryFn: () => unwrapPage(api.GET("/api/models", { params: { query: { limit: 100 } } })),
  });
}

/** Usage without a price in the last 30 days. */
function useUnpriced() {
  return useQuery({
    queryKey: ["models", "unpriced"],
    queryFn: () => unwrap(api.GET("/api/analytics/costs", { params: { query: {} } })),
  });
}

function usePriceList() {
  return useQuery({
    queryKey: ["models", "list"],
    queryFn: () => unwrap(api.GET("/api/models/price-list")),
  });
}

/** Polls while earlier spans are being repriced, and reads the models again when it has ended. */
function useRepricing() {
  const queries = useQueryClient();
  const repricing = useQuery({
    queryKey: ["models", "repricing"],
    queryFn: () =>
      unwrapPage(api.GET("/api/models/repricing", { params: { query: { limit: 20 } } })),
    refetchInterval: ({ state }) => (state.data?.items.some(isRunning) ? 2000 : false),
  });
  const isAnyRunning = repricing.data?.items.some(isRunning) ?? false;
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !isAnyRunning) {
      void queries.invalidateQueries({ queryKey: ["models", "seen"] });
      void queries.invalidateQueries({ queryKey: ["models", "unpriced"] });
    }
    wasRunning.current = isAnyRunning;
  }, [isAnyRunning, queries]);
  return repricing;
}

const isRunning = (task: Repricing) => task.state !== "done";

export default function ModelsPage() {
  const models = useModels();
  const own = useOwnPrices();
  const unpriced = useUnpriced();
  const repricing = useRepricing();
  const isEditor = useCan()("editor");
  const [tab, setTab] = useUrlState("tab", "seen");
  const [edited, setEdited] = useUrlState("model", "");
  const [draft, setDraft] = useState<PriceDraft | null>(null);
  const rows = models.data?.items ?? [];
  const running = repricing.data?.items.filter(isRunning) ?? [];
  // With a model in the URL, the form waits for its current rates.
  const fromUrl =
    edited !== "" && !models.isPending
      ? draftOf(
          edited,
          rows.find((model) => model.model === edited),
        )
      : null;
  const shown = draft ?? fromUrl;
  const close = () => {
    setDraft(null);
    setEdited("");
  };
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-3 px-3 pt-4 pb-3">
        <h1 className="mr-auto text-xl font-semibold tracking-tight">Model prices</h1>
        <span className="text-sm text-muted max-sm:order-last max-sm:w-full">
          Prices in USD per 1M tokens
        </span>
        <PriceListNote />
        <RoleButton
          needs="editor"
          icon={<Plus className="size-3.5" />}
          onClick={() => setDraft(NEW_PRICE)}
        >
          Add a price
        </RoleButton>
      </div>
      {unpriced.data && <UnpricedNotice costs={unpriced.data} onSet={setEdited} />}
      {running.map((task) => (
        <Progress key={`${task.kind}/${task.model}`} task={task} />
      ))}
      <Tabs
        label="Prices"
        value={tab}
        onChange={setTab}
        tabs={[
          { id: "seen", label: "Models in use", count: models.data?.pagination.total ?? 0 },
          { id: "own", label: "Custom prices", count: own.data?.pagination.total ?? 0 },
        ]}
      />
      <div className="min-h-0 flex-1">
        {tab === "own" ? (
          <OwnPrices onEdit={(price) => setDraft(draftOfPrice(price))} />
        ) : (
          <>
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
                columns={priceColumns(setEdited, unpriced.data?.unpricedTokensByModel ?? {})}
                rows={rows}
                rowKey={(model) => `${model.provider}/${model.model}`}
                {...(isEditor && { onOpen: ({ model }: Model) => setEdited(model) })}
                minWidth="62rem"
                rowHeight={36}
              />
            )}
          </>
        )}
      </div>
      {isEditor && shown && (
        <PriceDialog
          key={`${shown.kind}/${shown.name}/${shown.effectiveFrom}`}
          draft={shown}
          onClose={close}
        />
      )}
    </div>
  );
}

function PriceListNote() {
  const list = usePriceList().data;
  if (!list) return null;
  const source = list.source === "file" ? "Price list from a file" : "Built-in price list";
  return (
    <span
      className="text-sm text-muted max-sm:order-last max-sm:w-full"
      title={list.error ?? undefined}
    >
      {source} of {list.date}, {formatCounted(list.models, "model")}
      {list.error && (
        <span className="text-warning"> (the latest file is invalid and was not used)</span>
      )}
    </span>
  );
}

interface NoticeProps {
  costs: Schemas["Costs"];
  onSet: (model: string) => void;
}

function UnpricedNotice({ costs, onSet }: NoticeProps) {
  const models = costs.unpricedModels;
  if (models.length === 0 && costs.unpricedTokens === 0) return null;
  const most = models.toSorted(
    (a, b) => (costs.unpricedTokensByModel[b] ?? 0) - (costs.unpricedTokensByModel[a] ?? 0),
  );
  return (
    <div className="mx-3 mb-3 flex flex-wrap items-center gap-2 rounded-md bg-warning-soft px-3 py-2 text-warning">
      <p className="mr-auto">
        {formatCompact(costs.unpricedTokens)} tokens of the last 30 days have no price, so no cost
        contains them. When you set a price, earlier calls are repriced too.
      </p>
      {most.slice(0, SHOWN_MODELS).map((model) => (
        <RoleButton
          needs="editor"
          key={model}
          size="small"
          className="max-w-full"
          onClick={() => onSet(model)}
        >
          <span className="truncate">Set the price of {model}</span>
        </RoleButton>
      ))}
    </div>
  );
}

function Progress({ task }: { task: Repricing }) {
  const share = task.monthsTotal ? task.monthsDone / task.monthsTotal : 0;
  return (
    <div role="status" className="mx-3 mb-3">
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
