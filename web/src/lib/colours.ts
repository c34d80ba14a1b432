/** Assigns each agent, model and tool one colour, the same in every chart and on every visit. */
import { useSyncExternalStore } from "react";
import { isDark } from "./theme";

/** Hues, and a second shade of each for the names beyond them. */
const HUES = 10;
const SLOTS = 2 * HUES;
const KEY = "spanwise.colours";
const OTHER = "var(--series-other)";
const MAX_NAMES = 500;
/** The rest of a chart, and groups without a value. */
const UNNAMED = new Set(["other", "unknown", "(none)"]);

type Slots = Record<string, number>;

function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 16777619) >>> 0;
  }
  return value;
}

function load(): Slots {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

let slots: Slots = load();
/** Cached by theme and colour: resolving one forces a style recalculation. */
const resolved = new Map<string, string>();
const listeners = new Set<() => void>();

/**
 * Assigns a colour slot to each name. Names are processed in alphabetical order, so that everyone
 * with the same names gets the same colours. The hash chooses the hue; if it is taken, the next
 * least used slot is chosen, a second shade after all hues. A name keeps its slot.
 */
export function assignColours(names: string[], taken: Slots): Slots {
  const next = { ...taken };
  const uses = new Array<number>(SLOTS).fill(0);
  const use = (slot: number) => {
    uses[slot] = (uses[slot] ?? 0) + 1;
  };
  for (const name of names) if (next[name] !== undefined) use(next[name]);
  for (const name of names.filter((one) => next[one] === undefined).toSorted()) {
    const first = hash(name) % HUES;
    const order = Array.from(
      { length: SLOTS },
      (_, step) => ((first + step) % HUES) + (step < HUES ? 0 : HUES),
    );
    const least = Math.min(...uses);
    const slot = order.find((one) => uses[one] === least) ?? first;
    next[name] = slot;
    use(slot);
  }
  return next;
}

/** Registers the known names of a kind, such as agents; each kind uses the full palette. */
export function registerNames(...kinds: string[][]) {
  const next = kinds.reduce(
    (taken, names) => assignColours(names.slice(0, MAX_NAMES), taken),
    slots,
  );
  if (Object.keys(next).length === Object.keys(slots).length) return;
  slots = next;
  localStorage.setItem(KEY, JSON.stringify(slots));
  publish();
  for (const listener of listeners) listener();
}

function variableOf(name: string): string {
  return `--name-${hash(name).toString(36)}`;
}

/** Publishes colours as CSS variables, so that rendered elements change with them. */
function publish() {
  const { style } = document.documentElement;
  resolved.clear();
  for (const [name, slot] of Object.entries(slots)) {
    style.setProperty(variableOf(name), `var(--series-${slot})`);
  }
}

if (typeof document !== "undefined") publish();

export function colourOf(name: string): string {
  if (UNNAMED.has(name)) return OTHER;
  return `var(${variableOf(name)}, var(--series-${hash(name) % HUES}))`;
}

/**
 * The colours of the series of one chart: those that their names have everywhere, unless two of
 * them would look the same.
 */
export function coloursOf(names: readonly string[]): string[] {
  const named = names.filter((name) => !UNNAMED.has(name));
  const own: Slots = {};
  for (const name of named.toSorted()) {
    const slot = slots[name];
    if (slot !== undefined && !Object.values(own).includes(slot)) own[name] = slot;
  }
  const all = assignColours(named, own);
  return names.map((name) => {
    if (UNNAMED.has(name) || own[name] !== undefined) return colourOf(name);
    const colour = `var(--series-${all[name]})`;
    // A name that is registered later takes its own colour.
    return slots[name] === undefined ? `var(${variableOf(name)}, ${colour})` : colour;
  });
}

/** Changes when colours are reassigned; for drawing on a canvas. */
export function useColours(): Slots {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => slots,
  );
}

/** Resolves `var(--x)` for the current theme, because a canvas cannot use CSS variables. */
export function resolveColour(colour: string): string {
  const key = `${isDark()} ${colour}`;
  const known = resolved.get(key);
  if (known !== undefined) return known;
  const read = readColour(colour);
  resolved.set(key, read);
  return read;
}

function readColour(colour: string): string {
  const probe = document.createElement("span");
  probe.style.color = colour;
  document.body.append(probe);
  const read = getComputedStyle(probe).color;
  probe.remove();
  return read;
}
