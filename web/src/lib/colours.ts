/** Agents and models keep one colour each, in every chart and on every visit. */
import { useSyncExternalStore } from "react";
import { isDark } from "./theme";

const SLOTS = 10;
const KEY = "spanwise.colours";
const OTHER = "var(--series-other)";
const MOST = 500;

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
/** By theme and colour: asking the browser makes it work out styles, dozens of times a chart. */
const resolved = new Map<string, string>();
const listeners = new Set<() => void>();

/**
 * Gives the names that occur a colour each, in the order of the alphabet, so that everyone who has
 * the same names sees the same colours. The hash decides; where another name of the same kind has
 * that colour, the least used one after it is taken. A name keeps what it has.
 */
export function assignColours(names: string[], taken: Slots): Slots {
  const next = { ...taken };
  const uses = new Array<number>(SLOTS).fill(0);
  const use = (slot: number) => {
    uses[slot] = (uses[slot] ?? 0) + 1;
  };
  for (const name of names) if (next[name] !== undefined) use(next[name]);
  for (const name of names.filter((one) => next[one] === undefined).toSorted()) {
    const first = hash(name) % SLOTS;
    const order = Array.from({ length: SLOTS }, (_, step) => (first + step) % SLOTS);
    const least = Math.min(...uses);
    const slot = order.find((one) => uses[one] === least) ?? first;
    next[name] = slot;
    use(slot);
  }
  return next;
}

/** Learns the agents and models that there are; each kind shares out the colours anew. */
export function learnNames(...kinds: string[][]) {
  const next = kinds.reduce((taken, names) => assignColours(names.slice(0, MOST), taken), slots);
  if (Object.keys(next).length === Object.keys(slots).length) return;
  slots = next;
  localStorage.setItem(KEY, JSON.stringify(slots));
  publish();
  for (const listener of listeners) listener();
}

function variableOf(name: string): string {
  return `--name-${hash(name).toString(36)}`;
}

/** Colours are variables by name, so that what is on the page already changes with them. */
function publish() {
  const { style } = document.documentElement;
  resolved.clear();
  for (const [name, slot] of Object.entries(slots)) {
    style.setProperty(variableOf(name), `var(--series-${slot})`);
  }
}

if (typeof document !== "undefined") publish();

export function colourOf(name: string): string {
  if (name === "other" || name === "unknown") return OTHER;
  return `var(${variableOf(name)}, var(--series-${hash(name) % SLOTS}))`;
}

/** Changes when names have got other colours; for what is painted on a canvas. */
export function useColours(): Slots {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => slots,
  );
}

/** A canvas cannot read variables: resolve `var(--x)` to what it means in the current theme. */
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
