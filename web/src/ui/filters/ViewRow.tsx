/** One saved view: applies it, and for those who may, changes or deletes it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ellipsis, Pencil, Save, Trash2, Users } from "lucide-react";
import { useState } from "react";
import { api, type Schemas, unwrap } from "@/lib/api";
import { useProfile } from "@/lib/queries";
import { useCan } from "@/lib/roles";
import { type Search, stringifySearch, useSetUrl, useUrl } from "@/lib/url";
import { ConfirmDialog } from "../ConfirmDialog";
import { cx } from "../cx";
import { Menu, MenuItem } from "../Menu";
import { NameDialog } from "../NameDialog";
import { toast } from "../Toast";

type View = Schemas["View"];

interface Change {
  fields: Schemas["ViewChange"];
  done: string;
}

/** Parameters that belong to the moment, not to a view. */
const NOT_SAVED = ["ws", "compare", "marked", "refresh", "log"];

export function savedPart(url: Search): Record<string, string> {
  const kept = Object.entries(url).filter(([key, value]) => value && !NOT_SAVED.includes(key));
  return Object.fromEntries(kept.sort()) as Record<string, string>;
}

export function useChange<Input>(
  change: (input: Input) => Promise<unknown>,
  done: (input: Input) => void,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async (_, input) => {
      await queries.invalidateQueries({ queryKey: ["views"] });
      done(input);
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
  const change = useChange(
    ({ fields }: Change) =>
      unwrap(api.PUT("/api/views/{id}", { params: { path: { id: view.id } }, body: fields })),
    ({ done }: Change) => {
      toast(done, "good");
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
        <Menu
          ariaLabel={`Change view ${view.name}`}
          align="end"
          buttonClass="!h-7 !border-0 !bg-transparent px-1.5 text-muted hover:!bg-hover"
          label={<Ellipsis className="size-4" aria-hidden />}
        >
          <MenuItem
            onClick={() =>
              change.mutate({ fields: { query: savedPart(url) }, done: "View updated." })
            }
          >
            <Save className="size-3.5" aria-hidden /> Update to the current filters
          </MenuItem>
          <MenuItem onClick={() => setAsking("rename")}>
            <Pencil className="size-3.5" aria-hidden /> Rename
          </MenuItem>
          <MenuItem
            onClick={() =>
              change.mutate({
                fields: { isShared: !view.isShared },
                done: view.isShared ? "View is private now." : "View shared with the workspace.",
              })
            }
          >
            <Users className="size-3.5" aria-hidden />
            {view.isShared ? "Stop sharing" : "Share with the workspace"}
          </MenuItem>
          <MenuItem onClick={() => setAsking("delete")}>
            <Trash2 className="size-3.5" aria-hidden /> Delete
          </MenuItem>
        </Menu>
      )}
      {asking === "rename" && (
        <NameDialog
          title={`Rename the view “${view.name}”`}
          action="Rename"
          name={view.name}
          isBusy={change.isPending}
          onClose={() => setAsking(null)}
          onSave={(name) => change.mutate({ fields: { name }, done: "View renamed." })}
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
