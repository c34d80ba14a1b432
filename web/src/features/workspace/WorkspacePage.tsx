/** Settings of the current workspace: members, masking, retention, and its audit log. */
import type { ComponentType } from "react";
import type { Workspace } from "@/lib/api";
import { useWorkspace } from "@/lib/queries";
import { includesRole, type Role } from "@/lib/roles";
import { useUrlState } from "@/lib/url";
import { PageBody } from "@/ui/Panel";
import { Skeleton } from "@/ui/states";
import { Tabs } from "@/ui/Tabs";
import { Audit } from "./Audit";
import { General } from "./General";
import { Masking } from "./Masking";
import { Members } from "./Members";
import { Retention } from "./Retention";

interface Tab {
  id: string;
  label: string;
  /** The role that may see it. */
  needs: Role;
  Content: ComponentType<{ workspace: Workspace }>;
}

const TABS: Tab[] = [
  { id: "general", label: "General", needs: "viewer", Content: General },
  { id: "members", label: "Members", needs: "viewer", Content: Members },
  { id: "masking", label: "Masking", needs: "admin", Content: Masking },
  { id: "retention", label: "Retention", needs: "admin", Content: Retention },
  { id: "audit", label: "Audit", needs: "admin", Content: Audit },
];

export default function WorkspacePage() {
  const workspace = useWorkspace();
  const [tab, setTab] = useUrlState("tab", "general");
  const tabs = TABS.filter(({ needs }) => includesRole(workspace?.role, needs));
  const shown = tabs.find(({ id }) => id === tab) ?? tabs[0];
  return (
    <PageBody
      title={
        <>
          Workspace <span className="font-normal text-muted">{workspace?.name}</span>
        </>
      }
    >
      {workspace && shown ? (
        <div className="rounded-lg border bg-surface">
          <Tabs label="Workspace" tabs={tabs} value={shown.id} onChange={setTab} />
          <shown.Content key={workspace.id} workspace={workspace} />
        </div>
      ) : (
        <Skeleton className="h-96" />
      )}
    </PageBody>
  );
}
