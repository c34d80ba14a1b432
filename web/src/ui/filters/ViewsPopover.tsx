/** Saved views: the URL parameters of a page under a name, for oneself or for the workspace. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, unwrap, unwrapPage } from "@/lib/api";
import { includesRole, useRole } from "@/lib/roles";
import { useUrl } from "@/lib/url";
import { Button } from "../Button";
import { Checkbox, Input } from "../Field";
import { Popover } from "../Popover";
import { toast } from "../Toast";
import { savedPart, useChange, ViewRow } from "./ViewRow";

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
      toast("View saved.", "good");
      close();
    },
  );
  const role = useRole();
  if (role && !includesRole(role, "editor")) {
    return (
      <p className="border-t px-2 pt-2 text-sm text-muted">
        You can open views; only editors of this workspace save them.
      </p>
    );
  }
  return (
    <form
      className="flex flex-col gap-2 border-t pt-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim()) save.mutate(undefined);
      }}
    >
      <Input
        aria-label="Name of the view"
        placeholder="Save the current filters as…"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <div className="flex items-center justify-between gap-2">
        <Checkbox
          label="Share with the workspace"
          checked={isShared}
          onChange={(event) => setShared(event.target.checked)}
        />
        <Button type="submit" kind="primary" disabled={name.trim() === ""} busy={save.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
