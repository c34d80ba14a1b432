/** Saves the query as a panel of a new or an existing dashboard. */
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { flushSync } from "react-dom";
import {
  changeDashboard,
  createDashboard,
  getDashboard,
  useDashboardChange,
  useDashboards,
  useMayChange,
} from "@/lib/dashboards";
import { type Draft, describeDraft, draftToPanel } from "@/lib/queryDraft";
import { useRange } from "@/lib/range";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Select, TextField } from "@/ui/Field";
import { ErrorState, Skeleton } from "@/ui/states";
import { toast } from "@/ui/Toast";

const NEW = "";
const MOST_PANELS = 50;
const MOST_TITLE = 200;

export function SaveDialog({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const list = useDashboards();
  const mayChange = useMayChange();
  const open = list.data?.filter((one) => mayChange(one) && one.panels.length < MOST_PANELS) ?? [];
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState("");
  const [title, setTitle] = useState(describeDraft(draft).slice(0, MOST_TITLE));
  const latest = [...open].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))[0];
  const target = open.find((one) => one.id === (chosen ?? latest?.id));
  const id = chosen === NEW ? NEW : (target?.id ?? NEW);
  const save = useSave(draft, onClose);
  const isComplete = title.trim() !== "" && (id !== NEW || name.trim() !== "");
  const submit = () => isComplete && save.mutate({ id, name: name.trim(), title: title.trim() });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Save to dashboard"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={save.isPending} disabled={!isComplete} onClick={submit}>
            Save
          </Button>
        </>
      }
    >
      {list.isPending && <Skeleton className="h-32" />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && (
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <TextField
            label="Title of the panel"
            value={title}
            maxLength={MOST_TITLE}
            onChange={setTitle}
          />
          <Field label="Dashboard">
            {(props) => (
              <Select
                {...props}
                value={id}
                onChange={setChosen}
                className="max-w-none"
                options={[
                  ...open.map((one) => ({ value: one.id, label: one.name })),
                  { value: NEW, label: "New dashboard" },
                ]}
              />
            )}
          </Field>
          {id === NEW && (
            <TextField
              label="Name of the dashboard"
              autoFocus
              value={name}
              maxLength={MOST_TITLE}
              onChange={setName}
            />
          )}
          {/* Enter submits a form with several fields only if it has a button. */}
          <button type="submit" className="hidden" tabIndex={-1} aria-hidden />
        </form>
      )}
    </Dialog>
  );
}

function useSave(draft: Draft, close: () => void) {
  const range = useRange();
  const navigate = useNavigate();
  return useDashboardChange(
    async ({ id, name, title }: { id: string; name: string; title: string }) => {
      const panel = draftToPanel(draft, range, { title, width: 6, height: 4 });
      if (id === NEW) return createDashboard({ name, isShared: false, panels: [panel] });
      // Read again: somebody may have changed it since the list was loaded.
      const { panels } = await getDashboard(id);
      return changeDashboard(id, { panels: [...panels, panel] });
    },
    {
      onDone: (dashboard) => {
        toast(`Saved to ${dashboard.name}.`, "good");
        // Now, so that leaving the page finds nothing unsaved.
        flushSync(close);
        void navigate({
          to: "/dashboards/$dashboardId",
          params: { dashboardId: dashboard.id },
        });
      },
      onError: (error) => toast(error.message, "bad"),
    },
  );
}
