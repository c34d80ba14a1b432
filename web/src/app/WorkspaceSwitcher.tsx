import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, Plus, Settings2 } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useWorkspace, workspacesQuery } from "@/lib/queries";
import { Badge } from "@/ui/Badge";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";
import { useSwitchWorkspace } from "./useSwitchWorkspace";

const NewWorkspaceDialog = lazy(() => import("./NewWorkspaceDialog"));

/** The workspaces of the signed-in person. */
export default function WorkspaceSwitcher({ label }: { label: ReactNode }) {
  const current = useWorkspace();
  const { data: own } = useQuery(workspacesQuery);
  const [isCreating, setCreating] = useState(false);
  const navigate = useNavigate();
  const switchTo = useSwitchWorkspace();
  return (
    <>
      <Menu
        ariaLabel="Workspace"
        buttonClass="min-w-0 border-transparent bg-transparent"
        label={label}
      >
        {own?.map((one) => (
          <MenuItem key={one.id} onClick={() => one.id !== current?.id && switchTo(one.id)}>
            <span className="flex size-3.5 shrink-0 items-center">
              {one.id === current?.id && (
                <Check className="size-3.5 text-accent" aria-label="Current" />
              )}
            </span>
            <span className="max-w-60 truncate">{one.name}</span>
            <span className="ml-auto pl-3">
              <Badge>{one.role}</Badge>
            </span>
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem onClick={() => setCreating(true)}>
          <Plus className="size-3.5" aria-hidden /> New workspace…
        </MenuItem>
        {current && (
          <MenuItem onClick={() => void navigate({ to: "/workspace" })}>
            <Settings2 className="size-3.5" aria-hidden /> Workspace settings
          </MenuItem>
        )}
      </Menu>
      {isCreating && (
        <Suspense>
          <NewWorkspaceDialog onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </>
  );
}
