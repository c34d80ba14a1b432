import { useActiveShortcuts } from "@/lib/shortcuts";
import { Kbd } from "@/ui/Badge";
import { Dialog } from "@/ui/Dialog";

const NAMES: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
};

/** The shortcuts of the current page. */
export default function ShortcutSheet({
  isOpen,
  onClose,
}: {
  isOpen: boolean;
  onClose: () => void;
}) {
  const shortcuts = useActiveShortcuts();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <ul className="grid gap-x-8 gap-y-1 sm:grid-cols-2">
        <Row keys="Ctrl K" what="Search and commands" />
        {shortcuts.map((one) => (
          <Row key={one.keys} keys={one.keys} what={one.what} />
        ))}
      </ul>
    </Dialog>
  );
}

function Row({ keys, what }: { keys: string; what: string }) {
  return (
    <li className="flex h-7 items-center justify-between gap-3">
      <span className="truncate">{what}</span>
      <span className="flex shrink-0 gap-1">
        {keys.split(" ").map((key) => (
          <Kbd key={key}>{NAMES[key] ?? key}</Kbd>
        ))}
      </span>
    </li>
  );
}
