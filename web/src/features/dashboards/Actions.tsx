/** Renames, shares, duplicates and deletes a dashboard. */
import { useNavigate } from "@tanstack/react-router";
import { Copy, Lock, Pencil, Trash2, Users } from "lucide-react";
import { useState } from "react";
import { flushSync } from "react-dom";
import {
  changeDashboard,
  createDashboard,
  type Dashboard,
  deleteDashboard,
  useDashboardChange,
  useMayChange,
} from "@/lib/dashboards";
import { useCan } from "@/lib/roles";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { NameDialog } from "@/ui/NameDialog";
import { RoleButton } from "@/ui/RoleButton";
import { toast } from "@/ui/Toast";

const onError = (error: Error) => toast(error.message, "bad");

/** Creates a dashboard, closes the dialog that asked for its name, and opens it. */
export function useCreate(close: () => void) {
  const navigate = useNavigate();
  return useDashboardChange(createDashboard, {
    onDone: ({ id, name }) => {
      toast(`${name} was created.`, "good");
      // Now, so that leaving the page does not find the dialog unsaved.
      flushSync(close);
      void navigate({ to: "/dashboards/$dashboardId", params: { dashboardId: id } });
    },
    onError,
  });
}

type Asking = "rename" | "duplicate" | "delete" | null;

export function Actions({
  dashboard,
  onDeleted,
}: {
  dashboard: Dashboard;
  onDeleted?: () => void;
}) {
  const { id, name, isShared, panels } = dashboard;
  const [asking, setAsking] = useState<Asking>(null);
  const close = () => setAsking(null);
  const create = useCreate(close);
  const change = useDashboardChange(
    (part: { name?: string; isShared?: boolean }) => changeDashboard(id, part),
    { onDone: close, onError },
  );
  const remove = useDashboardChange(() => deleteDashboard(id), {
    onDone: () => {
      close();
      toast(`${name} was deleted.`);
      onDeleted?.();
    },
    onError,
  });
  return (
    <>
      <ChangeButton
        dashboard={dashboard}
        label={`Rename ${name}`}
        icon={<Pencil className="size-3.5" />}
        onClick={() => setAsking("rename")}
      />
      <ChangeButton
        dashboard={dashboard}
        label={isShared ? `Stop sharing ${name}` : `Share ${name} with the workspace`}
        icon={isShared ? <Lock className="size-3.5" /> : <Users className="size-3.5" />}
        isBusy={change.isPending}
        onClick={() => change.mutate({ isShared: !isShared })}
      />
      <RoleButton
        needs="editor"
        kind="quiet"
        aria-label={`Duplicate ${name}`}
        icon={<Copy className="size-3.5" />}
        onClick={() => setAsking("duplicate")}
      />
      <ChangeButton
        dashboard={dashboard}
        label={`Delete ${name}`}
        icon={<Trash2 className="size-3.5" />}
        onClick={() => setAsking("delete")}
      />
      {asking === "rename" && (
        <NameDialog
          title="Rename dashboard"
          action="Rename"
          name={name}
          isBusy={change.isPending}
          onClose={close}
          onSave={(next) => change.mutate({ name: next })}
        />
      )}
      {asking === "duplicate" && (
        <NameDialog
          title="Duplicate dashboard"
          action="Duplicate"
          name={`${name} (copy)`}
          isBusy={create.isPending}
          onClose={close}
          onSave={(next) => create.mutate({ name: next, isShared: false, panels })}
        />
      )}
      <ConfirmDialog
        isOpen={asking === "delete"}
        onClose={close}
        onConfirm={() => remove.mutate(undefined)}
        title={`Delete ${name}?`}
        action="Delete"
        isBusy={remove.isPending}
        isDangerous
      >
        {isShared
          ? "All members of the workspace lose this dashboard. Traces and other data are not deleted."
          : "Traces and other data are not deleted."}
      </ConfirmDialog>
    </>
  );
}

interface ChangeProps {
  dashboard: Dashboard;
  label: string;
  icon: React.ReactNode;
  isBusy?: boolean;
  onClick: () => void;
}

/** Disabled with the reason, unless the person may change the dashboard. */
function ChangeButton({ dashboard, label, icon, isBusy, onClick }: ChangeProps) {
  const isAllowed = useMayChange()(dashboard);
  const isEditor = useCan()("editor");
  const reason = isEditor ? "Only its owner and admins" : "Editors only";
  return (
    <Button
      kind="quiet"
      aria-label={label}
      icon={icon}
      busy={isBusy}
      onClick={onClick}
      {...(!isAllowed && { disabled: true, title: reason })}
    />
  );
}
