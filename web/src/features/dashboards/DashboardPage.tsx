/** One dashboard: its panels for the range of the page, and changing them. */
import { useNavigate, useParams } from "@tanstack/react-router";
import { LayoutDashboard, Maximize, Minimize, Move, Plus } from "lucide-react";
import { useEffect, useState } from "react";
import {
  changeDashboard,
  type Dashboard,
  useDashboard,
  useDashboardChange,
  useMayChange,
} from "@/lib/dashboards";
import type { Panel } from "@/lib/queryDraft";
import { useShownName } from "@/lib/title";
import { useUnsaved } from "@/lib/unsaved";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { PageBody } from "@/ui/Panel";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { toast } from "@/ui/Toast";
import { Actions } from "./Actions";
import { EditablePanels } from "./EditablePanels";
import { PanelDialog } from "./PanelDialog";

const MOST_PANELS = 50;
const CRUMBS = [{ label: "Dashboards", to: "/dashboards" }];

export default function DashboardPage() {
  const { dashboardId } = useParams({ strict: false }) as { dashboardId: string };
  const { data, error, refetch } = useDashboard(dashboardId);
  const navigate = useNavigate();
  if (data) return <Content key={data.id} dashboard={data} />;
  return (
    <PageBody title="Dashboard" crumbs={CRUMBS}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()}>
          <Button onClick={() => void navigate({ to: "/dashboards" })}>All dashboards</Button>
        </ErrorState>
      ) : (
        <Skeleton className="h-96" />
      )}
    </PageBody>
  );
}

function useSave(dashboard: Dashboard, onSaved: () => void) {
  return useDashboardChange((panels: Panel[]) => changeDashboard(dashboard.id, { panels }), {
    onDone: () => {
      onSaved();
      toast("Saved.", "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

function Content({ dashboard }: { dashboard: Dashboard }) {
  const navigate = useNavigate();
  const isAllowed = useMayChange()(dashboard);
  // Null until something is changed, so that changes of others appear.
  const [changed, setChanged] = useState<Panel[] | null>(null);
  const [editing, setEditing] = useState<number | "new" | null>(null);
  const [isDeleted, setDeleted] = useState(false);
  const save = useSave(dashboard, () => setChanged(null));
  useShownName(dashboard.name);
  useUnsaved(changed !== null);
  const [isArranging, setArranging] = useState(false);
  const { isFull, toggle } = useFullScreen();
  const panels = changed ?? dashboard.panels;
  const apply = (panel: Panel) => {
    setChanged(editing === "new" ? [...panels, panel] : panels.with(Number(editing), panel));
    setEditing(null);
  };
  useEffect(() => {
    if (isDeleted) void navigate({ to: "/dashboards" });
  }, [isDeleted, navigate]);
  return (
    <>
      <PageBody
        title={dashboard.name}
        crumbs={CRUMBS}
        beside={dashboard.isShared && <Badge tone="info">Shared</Badge>}
        actions={
          <>
            {changed && (
              <Unsaved
                isBusy={save.isPending}
                onSave={() => save.mutate(changed)}
                onDiscard={() => setChanged(null)}
              />
            )}
            {!isFull && (
              <>
                {isAllowed && panels.length > 0 && (
                  <Button
                    className="max-md:hidden"
                    aria-pressed={isArranging}
                    kind={isArranging && !changed ? "primary" : "plain"}
                    icon={<Move className="size-3.5" />}
                    onClick={() => setArranging(!isArranging)}
                  >
                    {isArranging ? "Done" : "Arrange"}
                  </Button>
                )}
                <AddButton
                  isAllowed={isAllowed}
                  isFull={panels.length >= MOST_PANELS}
                  onClick={() => setEditing("new")}
                />
                <span className="flex">
                  <Actions
                    dashboard={dashboard}
                    onDeleted={() => {
                      setChanged(null);
                      setDeleted(true);
                    }}
                  />
                </span>
              </>
            )}
            <Button
              kind="quiet"
              aria-label={isFull ? "Exit full screen" : "Full screen"}
              onClick={toggle}
              icon={isFull ? <Minimize className="size-4" /> : <Maximize className="size-4" />}
            />
          </>
        }
      >
        {panels.length === 0 ? (
          <EmptyState
            icon={<LayoutDashboard className="size-6" />}
            title="No panels yet"
            action={<AddButton isAllowed={isAllowed} onClick={() => setEditing("new")} />}
          >
            A panel shows the result of a query, as a chart, a number or a table.
          </EmptyState>
        ) : (
          <EditablePanels
            panels={panels}
            onChange={isAllowed ? setChanged : undefined}
            onEdit={setEditing}
            isArranging={isArranging && !isFull}
          />
        )}
      </PageBody>
      {editing !== null && (
        <PanelDialog
          panel={editing === "new" ? undefined : panels[editing]}
          onClose={() => setEditing(null)}
          onSave={apply}
        />
      )}
    </>
  );
}

interface UnsavedProps {
  isBusy: boolean;
  onSave: () => void;
  onDiscard: () => void;
}

function Unsaved({ isBusy, onSave, onDiscard }: UnsavedProps) {
  return (
    <>
      <span className="text-sm text-warning">Unsaved changes</span>
      <Button onClick={onDiscard}>Discard</Button>
      <Button kind="primary" busy={isBusy} onClick={onSave}>
        Save
      </Button>
    </>
  );
}

interface AddProps {
  isAllowed: boolean;
  isFull?: boolean;
  onClick: () => void;
}

function AddButton({ isAllowed, isFull, onClick }: AddProps) {
  const reason = isFull ? "A dashboard has at most 50 panels" : "Only its owner and admins";
  return (
    <RoleButton
      needs="editor"
      icon={<Plus className="size-3.5" />}
      onClick={onClick}
      {...((isFull || !isAllowed) && { disabled: true, title: reason })}
    >
      Add panel
    </RoleButton>
  );
}

/**
 * Shows the document in full screen, without the sidebar and most of the top bar: menus and dialogs
 * are drawn beside the page. Escape leaves it too, which only the event tells.
 */
function useFullScreen() {
  const [isFull, setFull] = useState(false);
  useEffect(() => {
    const update = () => setFull(document.fullscreenElement !== null);
    document.addEventListener("fullscreenchange", update);
    return () => {
      document.removeEventListener("fullscreenchange", update);
      if (document.fullscreenElement) void document.exitFullscreen();
    };
  }, []);
  const toggle = () => {
    const change = isFull
      ? document.exitFullscreen()
      : document.documentElement.requestFullscreen();
    change.catch(() => toast("The browser does not allow full screen here.", "bad"));
  };
  return { isFull, toggle };
}
