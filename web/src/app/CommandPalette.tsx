/** Ctrl/⌘ K: pages, agents, a trace by its id, words in traces, themes. */
import { useNavigate } from "@tanstack/react-router";
import { Bot, CornerDownLeft, ListTree, Search, SunMoon } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useState } from "react";
import { useFilterValues } from "@/lib/queries";
import { isDark, setTheme } from "@/lib/theme";
import { cx } from "@/ui/cx";
import { Dialog } from "@/ui/overlays";
import { PAGES } from "./pages";

interface Command {
  id: string;
  label: string;
  hint: string;
  icon: ReactNode;
  run: () => void;
}

interface Props {
  isOpen: boolean;
  onClose: () => void;
}

export function CommandPalette({ isOpen, onClose }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Search and commands"
      isBare
      className="mt-[12vh]"
    >
      <Palette onClose={onClose} />
    </Dialog>
  );
}

function useCommands(text: string): Command[] {
  const navigate = useNavigate();
  const { data } = useFilterValues();
  const words = text.trim().toLowerCase();
  const go = (to: string, search?: Record<string, string>) => () =>
    void navigate({ to, search: search as never });
  const fixed: Command[] = [
    ...PAGES.filter((page) => page.icon).map((page) => ({
      id: page.path,
      label: page.title,
      hint: page.key ? `g ${page.key}` : "page",
      icon: page.icon ? <page.icon className="size-4" /> : null,
      run: go(page.path),
    })),
    ...(data?.agents ?? []).map((agent) => ({
      id: `agent ${agent.name}`,
      label: agent.name,
      hint: "traces of this agent",
      icon: <Bot className="size-4" />,
      run: go("/traces", { agent: agent.name }),
    })),
    {
      id: "theme",
      label: "Light or dark",
      hint: "t",
      icon: <SunMoon className="size-4" />,
      run: () => setTheme(isDark() ? "light" : "dark"),
    },
  ];
  const found = fixed.filter((one) => one.label.toLowerCase().includes(words));
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
  return found.slice(0, 12);
}

function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const commands = useCommands(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other words, other first match
  useEffect(() => setAt(0), [text]);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt((at + 1) % Math.max(1, commands.length));
    else if (event.key === "ArrowUp")
      setAt((at - 1 + commands.length) % Math.max(1, commands.length));
    else if (event.key === "Enter") run(commands[at]);
    else return;
    event.preventDefault();
  };
  return (
    <div>
      <div className="flex items-center gap-2 border-b px-3">
        <Search className="size-4 text-muted" aria-hidden />
        <input
          // biome-ignore lint/a11y/noAutofocus: the palette is opened to type
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="commands"
          aria-activedescendant={`command-${at}`}
          aria-label="Search and commands"
          placeholder="Page, agent, trace id, or words in traces"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKey}
          className="h-11 flex-1 bg-transparent text-lg outline-none"
        />
      </div>
      <div id="commands" role="listbox" aria-label="Commands" className="p-1.5">
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            key={command.id}
            id={`command-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => run(command)}
            onPointerMove={() => setAt(index)}
            className={cx(
              "flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2",
              index === at && "bg-accent-soft text-accent",
            )}
          >
            {command.icon}
            <span className="truncate">{command.label}</span>
            <span className="ml-auto text-sm text-muted">{command.hint}</span>
            {index === at && <CornerDownLeft className="size-3.5" aria-hidden />}
          </div>
        ))}
        {commands.length === 0 && <p className="p-3 text-muted">Nothing has that name.</p>}
      </div>
    </div>
  );
}
