/** The columns of the price table. */
import { Pencil } from "lucide-react";
import type { Schemas } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCount } from "@/lib/format";
import { Badge, Dot, type Tone } from "@/ui/Badge";
import { RoleButton } from "@/ui/RoleButton";
import type { Column } from "@/ui/Table";
import { Time } from "@/ui/Time";

export type Model = Schemas["SeenModel"];

const SOURCES: Record<Model["priceSource"], { word: string; tone: Tone }> = {
  own: { word: "custom", tone: "accent" },
  list: { word: "list", tone: "neutral" },
  none: { word: "no price", tone: "warning" },
};

export function formatRate(value: unknown): string {
  if (typeof value !== "number") return "–";
  return `$${value.toLocaleString("en-US", { maximumFractionDigits: 4, minimumFractionDigits: 2 })}`;
}

export function priceColumns(
  onEdit: (model: string) => void,
  unpriced: Record<string, number>,
): Column<Model>[] {
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
          <Dot colour={colourOf("model", model.model)} />
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
      cell: ({ model, priceSource }) =>
        priceSource === "none" && !unpriced[model] ? (
          <span title="The application reports the cost of its calls">
            <Badge>reported</Badge>
          </span>
        ) : (
          <Badge tone={SOURCES[priceSource].tone}>{SOURCES[priceSource].word}</Badge>
        ),
    },
    {
      id: "unpriced",
      header: "Unpriced",
      width: "6rem",
      align: "right",
      cell: ({ model }) => (
        <span className={unpriced[model] ? "text-warning" : "text-muted"}>
          {unpriced[model] ? formatCompact(unpriced[model]) : "–"}
        </span>
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
        <RoleButton
          needs="editor"
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
