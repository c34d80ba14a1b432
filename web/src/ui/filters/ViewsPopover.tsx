/** Saved views: the URL parameters of a page under a name, for oneself or for the workspace. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2, Users } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { useProfile } from "@/lib/queries";
import { useCan } from "@/lib/roles";
import { type Search, stringifySearch, useSetUrl, useUrl } from "@/lib/url";
import { Button } from "../Button";
import { ConfirmDialog } from "../ConfirmDialog";
import { cx } from "../cx";
import { Checkbox, Input } from "../Field";
import { Popover } from "../Popover";
import { RoleButton } from "../RoleButton";
import { toast } from "../Toast";

type View = Schemas["View"];

/** Parameters that belong to the moment, not to a view. */
const NOT_SAVED = ["ws", "compare", "refresh"];

function savedPart(url: Search): Record<string, string> {
  const kept = Object.entries(url).filter(([key, value]) => value && !NOT_SAVED.includes(key));
  return Object.fromEntries(kept.sort()) as Record<string, string>;
}

interface Props {
  page: string;
  label: ReactNode;
}

export default function ViewsPopover({ page, label }: Props) {
  return (
    <Popover ariaLabel="Saved views" className="w-[min(20rem,calc(100vw-2rem))] p-2" label={label}>
      {(close) => <Views page={page} close={close} />}
    </Popover>
  );
}

function Views({ page, close }: { page: string; close: () => void }) {
  const views = useQuery({
    queryKey: ["views", page],
    queryFn: async () => {
      const query = { page, limit: 100 };
      return (await unwrapPage(api.GET("/api/views", { params: { query } }))).items;
    },
  });
  return (
    <div className="flex flex-col gap-2">
      <ul className="max-h-64 overflow-auto">
        {views.data?.map((view) => (
          <ViewRow key={view.id} view={view} close={close} />
        ))}
      </ul>
      {views.isPending && <p className="px-2 text-sm text-muted">Loading…</p>}
      {views.error && <p className="px-2 text-sm text-bad">{views.error.message}</p>}
      {views.data?.length === 0 && <p className="px-2 text-sm text-muted">No saved views yet</p>}
      <SaveView page={page} close={close} />
    </div>
  );
}

function useChange<Input>(change: (input: Input) => Promise<unknown>, done: () => void) {
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

function ViewRow({ view, close }: { view: View; close: () => void }) {
  const url = useUrl();
  const setUrl = useSetUrl();
  const can = useCan();
  const { data: profile } = useProfile();
  const mayDelete = can("editor") && (view.ownerId === profile?.id || can("admin"));
  const [isConfirming, setConfirming] = useState(false);
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
      {mayDelete && (
        <Button
          kind="quiet"
          size="small"
          aria-label={`Delete view ${view.name}`}
          onClick={() => setConfirming(true)}
          icon={<Trash2 className="size-3.5" />}
        />
      )}
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        onConfirm={() => remove.mutate(undefined)}
        title={`Delete the view “${view.name}”?`}
        action="Delete"
        isBusy={remove.isPending}
        isDangerous
      >
        {view.isShared ? "All members of the workspace lose it." : "Only you use it."}
      </ConfirmDialog>
    </li>
  );
}

function SaveView({ page, close }: { page: string; close: () => void }) {
  const url = useUrl();
  const [name, setName] = useState("");
  const [isShared, setShared] = useState(false);
  const save = useChange(
    () =>
      unwrap(
        api.POST("/api/views", {
          body: { name: name.trim(), page, query: savedPart(url), isShared },
        }),
      ),
    () => {
      toast("View saved.");
      close();
    },
  );
  const isAllowed = useCan()("editor");
  return (
    <form
      className="flex flex-col gap-2 border-t pt-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() && isAllowed) save.mutate(undefined);
      }}
    >
      <Input
        aria-label="Name of the view"
        placeholder="Save the current filters as…"
        maxLength={200}
        disabled={!isAllowed}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <div className="flex items-center justify-between gap-2">
        <Checkbox
          label="Share with the workspace"
          disabled={!isAllowed}
          checked={isShared}
          onChange={(event) => setShared(event.target.checked)}
        />
        <RoleButton
          needs="editor"
          type="submit"
          kind="primary"
          disabled={name.trim() === ""}
          busy={save.isPending}
        >
          Save
        </RoleButton>
      </div>
    </form>
  );
}
