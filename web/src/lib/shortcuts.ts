/** Keyboard shortcuts. Pages register theirs, and the sheet behind `?` lists the active ones. */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Shortcut {
  /** One key (`e`, `ArrowDown`), or two in sequence (`g o`). */
  keys: string;
  what: string;
  run: (event: KeyboardEvent) => void;
}

/** Page shortcuts are off while a dialog, popover or menu is open. */
const OVERLAYS = "[data-overlay]";

let active: Shortcut[][] = [];
const listeners = new Set<() => void>();
let first = "";
let firstAt = 0;

function announce() {
  active = [...active];
  for (const listener of listeners) listener();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Enter and space activate the focused element instead of a shortcut. */
function isClicking({ key, target }: KeyboardEvent): boolean {
  const isClick = key === "Enter" || key === " ";
  return isClick && target instanceof HTMLElement && target.closest("a, button, summary") !== null;
}

function handle(event: KeyboardEvent) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || isClicking(event)) return;
  if (document.querySelector(OVERLAYS)) return;
  const pair = Date.now() - firstAt < 1200 ? `${first} ${event.key}` : "";
  // The shortcuts registered last take precedence.
  const all = active.toReversed().flat();
  const match = all.find((one) => one.keys === pair) ?? all.find((one) => one.keys === event.key);
  first = match ? "" : event.key;
  firstAt = Date.now();
  if (match) {
    event.preventDefault();
    match.run(event);
  }
}

if (typeof window !== "undefined") window.addEventListener("keydown", handle);

export function useShortcuts(shortcuts: Shortcut[]) {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const names = shortcuts.map((one) => one.keys + one.what).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names identify the list
  useEffect(() => {
    const mine = latest.current.map((one, index) => ({
      ...one,
      run: (event: KeyboardEvent) => latest.current[index]?.run(event),
    }));
    active.push(mine);
    announce();
    return () => {
      active = active.filter((other) => other !== mine);
      announce();
    };
  }, [names]);
}

export function useActiveShortcuts(): Shortcut[] {
  const groups = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => active,
  );
  return groups.flat();
}
