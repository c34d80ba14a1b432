import { useNavigate } from "@tanstack/react-router";
import type { MouseEvent } from "react";

interface Props {
  userId: string | null | undefined;
  /** The part of the query string that links preserve. */
  kept?: string;
}

/** Links to the page of a user, also inside a row that opens something else. */
export function UserLink({ userId, kept = "" }: Props) {
  const navigate = useNavigate();
  if (!userId) return null;
  const path = `/users/${encodeURIComponent(userId)}`;
  const open = (event: MouseEvent) => {
    event.stopPropagation();
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void navigate({ to: path });
  };
  return (
    <a
      href={path + kept}
      onClick={open}
      title={userId}
      className="hover:text-accent hover:underline"
    >
      {userId}
    </a>
  );
}
