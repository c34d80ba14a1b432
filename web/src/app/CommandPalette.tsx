/** Ctrl/⌘ K: finds pages, agents, traces, users, sessions and workspaces, and switches the theme. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  AppWindow,
  ArrowLeftRight,
  Bot,
  CornerDownLeft,
  ListTree,
  MessagesSquare,
  Search,
  SunMoon,
  UserRound,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { useFilterValues, workspacesQuery } from "@/lib/queries";
import { isDark, setTheme } from "@/lib/theme";
import { useDebounced } from "@/lib/useDebounced";
import { useWorkspaceId } from "@/lib/workspace";
import { Dialog } from "@/ui/Dialog";
import { usePermittedPages } from "./pages";
import { type FoundId, useFoundIds } from "./useFoundIds";
import { useSwitchWorkspace } from "./useSwitchWorkspace";

interface Command {
  id: string;
  label: string;
  hint: string;
  /** Other words by which it is found. */
  keywords?: string | undefined;
  icon: ReactNode;
  run: () => void;
}

const MOST = 12;
const MOST_IDS = 4;

interface Props {
  isOpen: boolean;
  onClose: () => void;
}

export default function CommandPalette({ isOpen, onClose }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Search and commands"
      isBare
      className="!top-[12vh] !translate-y-0"
    >
      <Palette onClose={onClose} />
    </Dialog>
  );
}

function useWorkspaceCommands(): Command[] {
  const current = useWorkspaceId();
  const { data: own } = useQuery(workspacesQuery);
  const switchTo = useSwitchWorkspace();
  return (own ?? [])
    .filter((one) => one.id !== current)
    .map((one) => ({
      id: one.id,
      label: `Switch to ${one.name}`,
      hint: "workspace",
      icon: <ArrowLeftRight className="size-4" />,
      run: () => switchTo(one.id),
    }));
}

function useIdCommands(words: string): Command[] {
  const navigate = useNavigate();
  const typed = useDebounced(words);
  const open = (path: string, { id, range }: FoundId) =>
    void navigate({
      to: `/${path}/${encodeURIComponent(id)}`,
      search: range ? { range, from: undefined, to: undefined } : {},
    });
  const users = useFoundIds("userId", typed, MOST_IDS).map((found) => ({
    id: `user ${found.id}`,
    label: found.id,
    hint: "user",
    icon: <UserRound className="size-4" />,
    run: () => open("users", found),
  }));
  const sessions = useFoundIds("sessionId", typed, MOST_IDS).map((found) => ({
    id: `session ${found.id}`,
    label: found.id,
    hint: "session",
    icon: <MessagesSquare className="size-4" />,
    run: () => open("sessions", { id: found.id }),
  }));
  // Until typing pauses, these are the matches of an earlier text.
  return [...users, ...sessions].filter((one) => one.label.toLowerCase().includes(words));
}

function useCommands(text: string): Command[] {
  const navigate = useNavigate();
  const pages = usePermittedPages();
  const workspaces = useWorkspaceCommands();
  const { data } = useFilterValues();
  const words = text.trim().toLowerCase();
  const ids = useIdCommands(words);
  const go = (to: string, search?: Record<string, string>) => () =>
    void navigate({ to, search: search });
  const fixed: Command[] = [
    // Pages that are not in the rail are found by typing only.
    ...pages
      .filter((page) => page.icon || (words && page.keywords))
      .map((page) => ({
        id: page.path,
        label: page.title,
        hint: page.key ? `g ${page.key}` : "page",
        icon: page.icon ? <page.icon className="size-4" /> : <AppWindow className="size-4" />,
        keywords: page.keywords,
        run: go(page.path),
      })),
    ...(data?.agents ?? []).map((agent) => ({
      id: `agent ${agent.name}`,
      label: agent.name,
      hint: "traces of this agent",
      icon: <Bot className="size-4" />,
      run: go("/traces", { agent: agent.name }),
    })),
    ...workspaces,
    {
      id: "theme",
      label: "Switch between light and dark",
      hint: "t",
      icon: <SunMoon className="size-4" />,
      run: () => setTheme(isDark() ? "light" : "dark"),
    },
  ];
  const named = [
    ...fixed.filter((one) => one.label.toLowerCase().includes(words)),
    ...fixed.filter(
      (one) => !one.label.toLowerCase().includes(words) && one.keywords?.includes(words),
    ),
  ];
  // One place is left for the search below.
  const found = [...named.slice(0, MOST - ids.length - (words ? 1 : 0)), ...ids];
  if (/^[0-9a-f]{32}$/.test(words)) {
    found.unshift({
      id: "trace",
      label: `Open trace ${words}`,
      hint: "trace",
      icon: <ListTree className="size-4" />,
      run: go(`/traces/${words}`),
    });
  } else if (words) {
    found.push({
      id: "search",
      label: `Search traces for “${text.trim()}”`,
      hint: "traces",
      icon: <Search className="size-4" />,
      run: go("/traces", { search: text.trim() }),
    });
  }
  return found.slice(0, MOST);
}

function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const commands = useCommands(text);
  return (
    <Autocomplete.Root
      open
      inline
      items={commands}
      filter={null}
      value={text}
      onValueChange={(value, { reason }) => reason !== "item-press" && setText(value)}
      itemToStringValue={(command: Command) => command.label}
      autoHighlight="always"
      keepHighlight
    >
      <div className="flex items-center gap-2 border-b px-3">
        <Search className="size-4 text-muted" aria-hidden />
        <Autocomplete.Input
          aria-label="Search and commands"
          placeholder="Page, agent, user, session, trace id, or words in traces"
          className="h-11 flex-1 bg-transparent text-lg outline-none"
        />
      </div>
      <Autocomplete.List aria-label="Commands" className="p-1.5 empty:hidden">
        {(command: Command) => (
          <Autocomplete.Item
            key={command.id}
            value={command}
            onClick={() => {
              onClose();
              command.run();
            }}
            className="group flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2 outline-none data-highlighted:bg-accent-soft data-highlighted:text-accent"
          >
            {command.icon}
            <span className="truncate">{command.label}</span>
            <span className="ml-auto text-sm text-muted">{command.hint}</span>
            <CornerDownLeft className="size-3.5 not-group-data-highlighted:hidden" aria-hidden />
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
      <Autocomplete.Empty className="p-3 text-muted empty:hidden">No matches</Autocomplete.Empty>
    </Autocomplete.Root>
  );
}
