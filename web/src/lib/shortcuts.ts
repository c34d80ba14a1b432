/** Keys. A page says which it has, and the sheet behind `?` shows what is in force. */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Shortcut {
  /** One key (`e`, `ArrowDown`), or two in turn (`g o`). */
  keys: string;
  what: string;
  run: (event: KeyboardEvent) => void;
}

/** While one of these is open, the keys are its own. */
const OVERLAYS = '[role="dialog"], [role="alertdialog"], [role="menu"]';

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

/** Enter and space are how the keyboard clicks; what has the focus comes first. */
function isClicking({ key, target }: KeyboardEvent): boolean {
  const isClick = key === "Enter" || key === " ";
  return isClick && target instanceof HTMLElement && target.closest("a, button, summary") !== null;
}

function handle(event: KeyboardEvent) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || isClicking(event)) return;
  if (document.querySelector(OVERLAYS)) return;
  const pair = Date.now() - firstAt < 1200 ? `${first} ${event.key}` : "";
  // What was added last is nearest to what the person looks at.
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names stand for the list
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
