/** Pages for people who cannot see the workspace that the URL names, and the way out of it. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Lock } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { defaultWorkspace, useProfile, workspacesQuery } from "@/lib/queries";
import { useSetUrl, useUrl } from "@/lib/url";
import { workspace } from "@/lib/workspace";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/states";
import { toast } from "@/ui/Toast";
import { useSwitchWorkspace } from "./useSwitchWorkspace";

const NewWorkspaceDialog = lazy(() => import("./NewWorkspaceDialog"));

type Access = "member" | "foreign" | "none";

/** Whether the person is a member of the workspace in the URL; assumed until it is known. */
export function useAccess(): Access {
  const { ws } = useUrl();
  const { data: own } = useQuery(workspacesQuery);
  const { data: profile } = useProfile();
  const setUrl = useSetUrl();
  const switchTo = useSwitchWorkspace();
  const isMember = !ws || !own || own.some((one) => one.id === ws);
  useEffect(() => {
    const current = workspace.id();
    if (!ws && current) setUrl({ ws: current });
  }, [ws, setUrl]);
  useEffect(() => {
    // Only this browser's own workspace is lost; any other one was opened by a link.
    if (isMember || ws !== workspace.id() || !own || !profile) return;
    workspace.leave();
    const next = defaultWorkspace(own, profile);
    if (!next) return;
    toast(`You are no longer a member of that workspace. Switched to ${next.name}.`);
    switchTo(next.id, "/");
  }, [isMember, ws, own, profile, switchTo]);
  if (own?.length === 0) return "none";
  return isMember ? "member" : "foreign";
}

export function NotMember() {
  const navigate = useNavigate();
  const id = workspace.id();
  const { data: own } = useQuery(workspacesQuery);
  const mine = own?.find((one) => one.id === id);
  return (
    <EmptyState
      isPage
      icon={<Lock className="size-6" />}
      title="You are not a member of this workspace"
      action={
        mine && (
          <Button
            kind="primary"
            onClick={() => void navigate({ to: "/", search: { ws: mine.id } })}
          >
            Go to {mine.name}
          </Button>
        )
      }
    >
      Ask the person who sent you the link for an invitation.
    </EmptyState>
  );
}

export function NoWorkspace() {
  const [isOpen, setOpen] = useState(false);
  return (
    <EmptyState
      isPage
      icon={<Lock className="size-6" />}
      title="You are not a member of any workspace"
      action={
        <Button kind="primary" onClick={() => setOpen(true)}>
          New workspace
        </Button>
      }
    >
      Ask a colleague for an invitation, or create a workspace of your own.
      {isOpen && (
        <Suspense>
          <NewWorkspaceDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </EmptyState>
  );
}
