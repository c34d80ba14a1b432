/** All dashboards: the overview, one's own, and those that others share. */
import { Link } from "@tanstack/react-router";
import { Copy, LayoutDashboard, Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { type Dashboard, useDashboards } from "@/lib/dashboards";
import { OVERVIEW_COPY } from "@/lib/overviewPanels";
import { useMembers, useProfile } from "@/lib/queries";
import { Badge } from "@/ui/Badge";
import { NameDialog } from "@/ui/NameDialog";
import { PageBody } from "@/ui/Panel";
import { RoleButton } from "@/ui/RoleButton";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { Actions, useCreate } from "./Actions";

const ROW =
  "relative flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-3.5 py-2 last:border-0 hover:bg-hover";

export default function DashboardsPage() {
  const list = useDashboards();
  const { data: profile } = useProfile();
  const [isNaming, setNaming] = useState<"new" | "overview" | null>(null);
  const create = useCreate(() => setNaming(null));
  const own = list.data?.filter((one) => one.ownerId === profile?.id) ?? [];
  const others = list.data?.filter((one) => one.ownerId !== profile?.id) ?? [];
  const newButton = (
    <RoleButton
      needs="editor"
      kind="primary"
      icon={<Plus className="size-3.5" />}
      onClick={() => setNaming("new")}
    >
      New dashboard
    </RoleButton>
  );
  return (
    <PageBody title="Dashboards" actions={newButton}>
      <Section title="Built in">
        <OverviewRow onCopy={() => setNaming("overview")} />
      </Section>
      {list.isPending && <SkeletonRows rows={4} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && own.length === 0 && (
        <EmptyState
          icon={<LayoutDashboard className="size-6" />}
          title="No dashboards of your own yet"
          action={newButton}
        >
          Copy the overview and change it, or save queries from Explore as panels.
        </EmptyState>
      )}
      {own.length > 0 && (
        <Section title="Yours">
          {own.map((one) => (
            <Row key={one.id} dashboard={one} />
          ))}
        </Section>
      )}
      {others.length > 0 && (
        <Section title="Shared by others">
          {others.map((one) => (
            <Row key={one.id} dashboard={one} isForeign />
          ))}
        </Section>
      )}
      {isNaming && (
        <NameDialog
          title={isNaming === "new" ? "New dashboard" : "Copy the overview"}
          action="Create"
          name={isNaming === "new" ? "" : "Overview (copy)"}
          isBusy={create.isPending}
          onClose={() => setNaming(null)}
          onSave={(name) =>
            create.mutate({
              name,
              isShared: false,
              panels: isNaming === "new" ? [] : OVERVIEW_COPY,
            })
          }
        />
      )}
    </PageBody>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mb-4">
      <h2 className="mb-1.5 text-sm font-medium text-muted">{title}</h2>
      <ul className="rounded-lg border bg-surface">{children}</ul>
    </section>
  );
}

function OverviewRow({ onCopy }: { onCopy: () => void }) {
  return (
    <li className={ROW}>
      <span className="min-w-0 flex-1">
        <Link to="/" className="block truncate font-medium after:absolute after:inset-0">
          Overview
        </Link>
        <span className="block truncate text-sm text-muted">
          Requests, latency, errors, tokens and cost of all agents
        </span>
      </span>
      <span className="relative">
        <RoleButton
          needs="editor"
          kind="quiet"
          aria-label="Copy the overview to a dashboard"
          icon={<Copy className="size-3.5" />}
          onClick={onCopy}
        />
      </span>
    </li>
  );
}

function Row({ dashboard, isForeign }: { dashboard: Dashboard; isForeign?: boolean }) {
  const { id, name, panels, isShared, ownerId, updatedAt } = dashboard;
  const { data: members } = useMembers();
  const owner = isForeign ? members?.find((one) => one.userId === ownerId) : undefined;
  return (
    <li className={ROW}>
      <span className="min-w-0 flex-1 basis-52">
        <Link
          to="/dashboards/$dashboardId"
          params={{ dashboardId: id }}
          className="block truncate font-medium after:absolute after:inset-0"
        >
          {name}
        </Link>
        <span className="block truncate text-sm text-muted">
          {panels.length === 1 ? "1 panel" : `${panels.length} panels`}
          {owner && ` · by ${owner.name ?? owner.email}`}
          {" · changed "}
          <Time at={updatedAt} />
        </span>
      </span>
      <span className="flex items-center gap-3">
        {isShared && !isForeign && <Badge tone="info">Shared</Badge>}
        <span className="relative flex">
          <Actions dashboard={dashboard} />
        </span>
      </span>
    </li>
  );
}
