/** One saved view: applies it, renames it, deletes it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Pencil, Trash2, Users } from "lucide-react";
import { useState } from "react";
import { api, type Schemas, unwrap } from "@/lib/api";
import { useProfile } from "@/lib/queries";
import { useCan } from "@/lib/roles";
import { type Search, stringifySearch, useSetUrl, useUrl } from "@/lib/url";
import { Button } from "../Button";
import { ConfirmDialog } from "../ConfirmDialog";
import { cx } from "../cx";
import { NameDialog } from "../NameDialog";
import { toast } from "../Toast";

type View = Schemas["View"];

/** Parameters that belong to the moment, not to a view. */
const NOT_SAVED = ["ws", "compare", "refresh"];

export function savedPart(url: Search): Record<string, string> {
  const kept = Object.entries(url).filter(([key, value]) => value && !NOT_SAVED.includes(key));
  return Object.fromEntries(kept.sort()) as Record<string, string>;
}

export function useChange<Input>(change: (input: Input) => Promise<unknown>, done: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["views"] });
      done();
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

export function ViewRow({ view, close }: { view: View; close: () => void }) {
  const url = useUrl();
  const setUrl = useSetUrl();
  const can = useCan();
  const { data: profile } = useProfile();
  const mayChange = can("editor") && (view.ownerId === profile?.id || can("admin"));
  const [asking, setAsking] = useState<"rename" | "delete" | null>(null);
  const rename = useChange(
    (name: string) =>
      unwrap(api.PUT("/api/views/{id}", { params: { path: { id: view.id } }, body: { name } })),
    () => {
      toast("View renamed.");
      setAsking(null);
    },
  );
  const remove = useChange(
    () => unwrap(api.DELETE("/api/views/{id}", { params: { path: { id: view.id } } })),
    () => toast("View deleted."),
  );
  const wanted = savedPart(view.query as Search);
  const isActive = stringifySearch(wanted) === stringifySearch(savedPart(url));
  const apply = () => {
    const others = Object.fromEntries(Object.keys(savedPart(url)).map((key) => [key, undefined]));
    setUrl({ ...others, ...wanted }, { push: true });
    close();
  };
  return (
    <li className="flex items-center gap-1">
      <button
        type="button"
        onClick={apply}
        aria-current={isActive || undefined}
        className={cx(
          "flex h-8 min-w-0 flex-1 items-center gap-2 rounded px-2 text-left hover:bg-hover",
          isActive && "bg-accent-soft text-accent",
        )}
      >
        <span className="truncate">{view.name}</span>
        {view.isShared && (
          <span title="Shared with the workspace" className="ml-auto shrink-0">
            <Users className="size-3.5 text-muted" aria-label="Shared" role="img" />
          </span>
        )}
      </button>
      {mayChange && (
        <>
          <Button
            kind="quiet"
            size="small"
            aria-label={`Rename view ${view.name}`}
            onClick={() => setAsking("rename")}
            icon={<Pencil className="size-3.5" />}
          />
          <Button
            kind="quiet"
            size="small"
            aria-label={`Delete view ${view.name}`}
            onClick={() => setAsking("delete")}
            icon={<Trash2 className="size-3.5" />}
          />
        </>
      )}
      {asking === "rename" && (
        <NameDialog
          title={`Rename the view “${view.name}”`}
          action="Rename"
          name={view.name}
          isBusy={rename.isPending}
          onClose={() => setAsking(null)}
          onSave={(name) => rename.mutate(name)}
        />
      )}
      <ConfirmDialog
        isOpen={asking === "delete"}
        onClose={() => setAsking(null)}
        onConfirm={() => remove.mutate(undefined)}
        title={`Delete the view “${view.name}”?`}
        action="Delete"
        isBusy={remove.isPending}
        isDangerous
      >
        {view.isShared ? "It is deleted for all members." : "Only you use it."}
      </ConfirmDialog>
    </li>
  );
}
