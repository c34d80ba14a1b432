/** The prices that the workspace has set: each can be changed and deleted. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Pencil, Tag, Trash2 } from "lucide-react";
import { api, unwrap, unwrapPage } from "@/lib/api";
import { Badge } from "@/ui/Badge";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { type Column, Table } from "@/ui/Table";
import { toast } from "@/ui/Toast";
import { formatRate } from "./columns";
import type { OwnPrice } from "./drafts";

export function useOwnPrices() {
  return useQuery({
    queryKey: ["models", "own"],
    queryFn: () => unwrapPage(api.GET("/api/models/prices", { params: { query: { limit: 100 } } })),
  });
}

export function OwnPrices({ onEdit }: { onEdit: (price: OwnPrice) => void }) {
  const prices = useOwnPrices();
  const remove = useDelete();
  if (prices.isPending) return <SkeletonRows rows={4} />;
  if (prices.isError) {
    return <ErrorState error={prices.error} onRetry={() => void prices.refetch()} />;
  }
  if (prices.data.items.length === 0) {
    return (
      <EmptyState icon={<Tag className="size-6" />} title="No custom prices">
        Add a price for a model without one, for your own discount, or for a tool that costs money
        per call.
      </EmptyState>
    );
  }
  return (
    <Table
      label="Custom prices"
      columns={ownColumns(onEdit, (price) => remove.mutate(price))}
      rows={prices.data.items}
      rowKey={(price) => `${price.kind}/${price.model}/${price.effectiveFrom}`}
      minWidth="56rem"
      rowHeight={36}
    />
  );
}

function useDelete() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ kind, model, effectiveFrom }: OwnPrice) =>
      unwrap(
        api.DELETE("/api/models/prices", {
          params: { query: { kind, model, effectiveFrom: effectiveFrom ?? "always" } },
        }),
      ),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["models"] });
      toast("Price deleted. Earlier calls are being repriced.", "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

function ownColumns(
  onEdit: (price: OwnPrice) => void,
  onDelete: (price: OwnPrice) => void,
): Column<OwnPrice>[] {
  const rate = (id: keyof OwnPrice, header: string): Column<OwnPrice> => ({
    id,
    header,
    width: "6rem",
    align: "right",
    cell: (price) => (price.kind === "tool" && id !== "perCall" ? "–" : formatRate(price[id])),
  });
  return [
    {
      id: "model",
      header: "Name",
      width: "minmax(13rem, 1fr)",
      cell: (price) => (
        <span className="flex items-center gap-2">
          <span className="truncate" title={price.model}>
            {price.model}
          </span>
          {price.kind === "tool" && <Badge>tool</Badge>}
        </span>
      ),
    },
    {
      id: "from",
      header: "Valid from",
      width: "7rem",
      cell: (price) => price.effectiveFrom?.slice(0, 10) ?? "always",
    },
    rate("inputPerMillion", "Input"),
    rate("cachedInputPerMillion", "Cached"),
    rate("cacheWritePerMillion", "Cache write"),
    rate("outputPerMillion", "Output"),
    rate("perCall", "Per call"),
    rate("perImage", "Per image"),
    {
      id: "actions",
      header: "",
      width: "5rem",
      cell: (price) => (
        <span className="flex gap-1">
          <RoleButton
            needs="editor"
            size="small"
            kind="quiet"
            aria-label={`Change the price of ${price.model}`}
            icon={<Pencil className="size-3.5" />}
            onClick={() => onEdit(price)}
          />
          <RoleButton
            needs="editor"
            size="small"
            kind="quiet"
            aria-label={`Delete the price of ${price.model}`}
            icon={<Trash2 className="size-3.5" />}
            onClick={() => onDelete(price)}
          />
        </span>
      ),
    },
  ];
}
