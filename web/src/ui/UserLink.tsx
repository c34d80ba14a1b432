import { useNavigate } from "@tanstack/react-router";
import type { MouseEvent } from "react";
import { cx } from "./cx";

interface Props {
  userId: string | null | undefined;
  /** The part of the query string that links preserve. */
  kept?: string;
  className?: string;
}

/** Links to the page of a user, also inside a row that opens something else. */
export function UserLink({ userId, kept = "", className }: Props) {
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
      className={cx("hover:text-accent hover:underline", className)}
    >
      {userId}
    </a>
  );
}
