/** What a million tokens cost: list prices, your own, and the models that nobody knows. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Coins, Pencil, Undo2 } from "lucide-react";
import { useState } from "react";
import { ApiError, api, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCount } from "@/lib/format";
import { useUrlState } from "@/lib/url";
import { Badge, Dot, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Input } from "@/ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { type Column, Table } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";

type Model = Schemas["SeenModel"];
type Repricing = Schemas["Repricing"];

const SOURCES: Record<Model["priceSource"], { word: string; tone: Tone }> = {
  own: { word: "yours", tone: "accent" },
  list: { word: "list", tone: "neutral" },
  none: { word: "no price", tone: "warning" },
};

function formatRate(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return `$${value.toLocaleString("en-US", { maximumFractionDigits: 4, minimumFractionDigits: 2 })}`;
}

function useModels() {
  return useQuery({
    queryKey: ["models", "seen"],
    queryFn: () => unwrapPage(api.GET("/api/models", { params: { query: { limit: 100 } } })),
  });
}

/** Asks often while earlier spans are getting a new cost, else not at all. */
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
  const [edited, setEdited] = useUrlState("model", "");
  const rows = models.data?.items ?? [];
  const unpriced = rows.filter((model) => model.priceSource === "none");
  const running = repricing.data?.items.filter((task) => task.state !== "done") ?? [];
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-3 px-4 pt-4 pb-3 md:px-6">
        <h1 className="mr-auto text-xl font-semibold tracking-tight">Model prices</h1>
        <span className="text-sm text-muted">US dollars for a million tokens</span>
      </div>
      {unpriced.length > 0 && (
        <p className="mx-4 mb-3 rounded-md bg-warning-soft px-3 py-2 text-warning md:mx-6">
          {unpriced.length === 1
            ? `${unpriced[0]?.model} has no price, so its calls count as free.`
            : `${unpriced.length} models have no price, so their calls count as free.`}{" "}
          Set one, and earlier calls get their cost too.
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
          <EmptyState icon={<Coins className="size-6" />} title="No model was seen yet">
            Prices follow from the model that a span names. Most public models are known already.
          </EmptyState>
        )}
        {rows.length > 0 && (
          <Table
            label="Models"
            columns={columns(setEdited)}
            rows={rows}
            rowKey={(model) => `${model.provider}/${model.model}`}
            onOpen={(model) => setEdited(model.model)}
            minWidth="56rem"
            rowHeight={36}
          />
        )}
      </div>
      <PriceDialog
        key={edited}
        name={edited}
        model={rows.find((model) => model.model === edited)}
        onClose={() => setEdited("")}
      />
    </div>
  );
}

function Progress({ task }: { task: Repricing }) {
  const share = task.monthsTotal ? task.monthsDone / task.monthsTotal : 0;
  return (
    <div role="status" className="mx-4 mb-3 md:mx-6">
      <p className="mb-1 text-sm text-muted">
        Earlier calls of {task.model} get their new cost: {task.monthsDone} of {task.monthsTotal}{" "}
        months
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

function columns(onEdit: (model: string) => void): Column<Model>[] {
  const rate = (id: keyof Model & `${string}PerMillion`, header: string): Column<Model> => ({
    id,
    header,
    width: "6rem",
    align: "right",
    cell: (model) => formatRate(model[id]),
  });
  return [
    {
      id: "model",
      header: "Model",
      width: "minmax(13rem, 1fr)",
      cell: (model) => (
        <span className="flex items-center gap-2">
          <Dot colour={colourOf(model.model)} />
          <span className="truncate" title={model.model}>
            {model.model}
          </span>
          <span className="truncate text-sm text-muted">{model.provider}</span>
        </span>
      ),
    },
    {
      id: "source",
      header: "Price",
      width: "5rem",
      cell: ({ priceSource }) => (
        <Badge tone={SOURCES[priceSource].tone}>{SOURCES[priceSource].word}</Badge>
      ),
    },
    rate("inputPerMillion", "Input"),
    rate("cachedInputPerMillion", "Cached"),
    rate("outputPerMillion", "Output"),
    rate("reasoningPerMillion", "Reasoning"),
    {
      id: "calls",
      header: "Calls",
      width: "6rem",
      align: "right",
      cell: (model) => formatCount(model.calls),
    },
    {
      id: "seen",
      header: "Last seen",
      width: "6rem",
      align: "right",
      cell: (model) => <Time at={model.lastSeenAt} />,
    },
    {
      id: "edit",
      header: "",
      width: "2.5rem",
      cell: (model) => (
        <Button
          size="small"
          kind="quiet"
          aria-label={`Set the price of ${model.model}`}
          icon={<Pencil className="size-3.5" />}
          onClick={(event) => {
            event.stopPropagation();
            onEdit(model.model);
          }}
        />
      ),
    },
  ];
}

const RATES = [
  ["inputPerMillion", "Input", ""],
  ["outputPerMillion", "Output", ""],
  ["cachedInputPerMillion", "Cached input", "as input, when empty"],
  ["cacheWritePerMillion", "Cache write", "as input, when empty"],
  ["reasoningPerMillion", "Reasoning", "as output, when empty"],
] as const;
type Rate = (typeof RATES)[number][0];

interface DialogProps {
  name: string;
  model: Model | undefined;
  onClose: () => void;
}

function PriceDialog({ name, model, onClose }: DialogProps) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState<Partial<Record<Rate, string>>>({});
  const shown = (rate: Rate) =>
    typed[rate] ?? (model?.[rate] === null || model === undefined ? "" : String(model[rate] ?? ""));
  const done = (words: string) => {
    void queries.invalidateQueries({ queryKey: ["models"] });
    toast(words, "good");
    onClose();
  };
  const save = useMutation({
    mutationFn: () => {
      const read = (rate: Rate) => (shown(rate) === "" ? null : Number(shown(rate)));
      const rates = Object.fromEntries(RATES.map(([rate]) => [rate, read(rate)]));
      return unwrap(api.PUT("/api/models/prices", { body: { model: name, ...rates } }));
    },
    onSuccess: () => done("Saved. Earlier calls get their new cost by and by."),
  });
  const reset = useMutation({
    mutationFn: () =>
      unwrap(api.DELETE("/api/models/prices", { params: { query: { model: name } } })),
    onSuccess: () => done("Back to the list price."),
  });
  const error = save.error ?? reset.error;
  return (
    <Dialog
      isOpen={name !== ""}
      onClose={onClose}
      title={`Price of ${name}`}
      footer={
        <>
          {model?.priceSource === "own" && (
            <Button
              className="mr-auto"
              icon={<Undo2 className="size-3.5" />}
              busy={reset.isPending}
              onClick={() => reset.mutate()}
            >
              Back to the list price
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={shown("inputPerMillion") === "" || shown("outputPerMillion") === ""}
            busy={save.isPending}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </>
      }
    >
      <p className="mb-3 text-muted">US dollars for a million tokens, for this workspace only.</p>
      {error && !(error instanceof ApiError && error.details.length) && (
        <p role="alert" className="mb-3 text-bad">
          {error.message}
        </p>
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        {RATES.map(([rate, label, hint]) => (
          <Field
            key={rate}
            label={label}
            hint={hint}
            error={error instanceof ApiError ? error.about(rate) : undefined}
          >
            {(props) => (
              <Input
                {...props}
                type="number"
                min={0}
                step="any"
                value={shown(rate)}
                onChange={(event) => setTyped({ ...typed, [rate]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </Dialog>
  );
}
