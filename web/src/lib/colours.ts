/**
 * Gives each value of a dimension, such as an agent or a model, one colour: the same in every chart
 * and on every visit. Measures have none of these: theirs are in `series.ts`.
 */
import { useSyncExternalStore } from "react";
import { isDark } from "./theme";

const HUES = 10;
const KEY = "spanwise.colours.byDimension";
const OTHER = "var(--series-other)";
const MAX_NAMES = 500;
/** The rest of a chart, and groups without a value. */
const UNNAMED = new Set(["other", "other groups", "unknown", "(none)"]);

/** The colour of each name: a number of a `--series-` variable. */
type Slots = Record<string, number>;

/**
 * Agents have colours of their own, so that an agent and a model on one page never look alike. Names
 * beyond ten have another shade.
 */
const tenFrom = (start: number) => Array.from({ length: HUES }, (_, hue) => start + hue);
const [OF_AGENTS, OF_OTHERS, SHADES] = [tenFrom(0), tenFrom(HUES), tenFrom(2 * HUES)];

function paletteOf(dimension: string): number[] {
  return [...(dimension === "agent" ? OF_AGENTS : OF_OTHERS), ...SHADES];
}

/** What coding agents are called on their page, by what they call themselves in their telemetry. */
const ALIASES: Record<string, string> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  codex_cli_rs: "Codex",
  codex_exec: "Codex",
  "gemini-cli": "Gemini CLI",
  copilot: "Copilot",
  "github-copilot": "Copilot",
  cursor: "Cursor",
};

function known(dimension: string, name: string): string {
  return dimension === "agent" ? (ALIASES[name] ?? name) : name;
}

function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 16777619) >>> 0;
  }
  return value;
}

function load(): Record<string, Slots> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

/** By dimension. */
let slots: Record<string, Slots> = load();
/** Cached by theme and colour: resolving one forces a style recalculation. */
const resolved = new Map<string, string>();
const listeners = new Set<() => void>();

/**
 * Assigns a colour to each name. Names are processed in alphabetical order, so that everyone with the
 * same names gets the same colours. The hash chooses the hue; if it is taken, the next least used
 * colour is chosen, the other shades after all hues. A name keeps its colour.
 */
export function assignColours(names: string[], taken: Slots, palette = paletteOf("agent")): Slots {
  const next = { ...taken };
  const uses = new Map(palette.map((slot) => [slot, 0]));
  const use = (slot: number) => uses.set(slot, (uses.get(slot) ?? 0) + 1);
  for (const name of names) if (next[name] !== undefined) use(next[name]);
  for (const name of names.filter((one) => next[one] === undefined).toSorted()) {
    const first = hash(name) % HUES;
    const order = palette.map((_, step) => {
      const shade = step < HUES ? 0 : HUES;
      return palette[shade + ((first + step) % HUES)] ?? 0;
    });
    const least = Math.min(...palette.map((slot) => uses.get(slot) ?? 0));
    const slot = order.find((one) => uses.get(one) === least) ?? order[0] ?? 0;
    next[name] = slot;
    use(slot);
  }
  return next;
}

/** Registers the known names by their dimension. */
export function registerNames(names: Record<string, readonly string[]>) {
  const next = { ...slots };
  let isChanged = false;
  for (const [dimension, all] of Object.entries(names)) {
    const own = all.slice(0, MAX_NAMES).map((name) => known(dimension, name));
    const before = next[dimension] ?? {};
    const after = assignColours(own, before, paletteOf(dimension));
    isChanged ||= Object.keys(after).length > Object.keys(before).length;
    next[dimension] = after;
  }
  if (!isChanged) return;
  slots = next;
  localStorage.setItem(KEY, JSON.stringify(slots));
  publish();
  for (const listener of listeners) listener();
}

function variableOf(dimension: string, name: string): string {
  return `--name-${hash(`${dimension} ${name}`).toString(36)}`;
}

/** Publishes colours as CSS variables, so that rendered elements change with them. */
function publish() {
  const { style } = document.documentElement;
  resolved.clear();
  for (const [dimension, names] of Object.entries(slots)) {
    for (const [name, slot] of Object.entries(names)) {
      style.setProperty(variableOf(dimension, name), `var(--series-${slot})`);
    }
  }
}

if (typeof document !== "undefined") publish();

/** The colour of a value of a dimension, such as the agent "planner". */
export function colourOf(dimension: string, name: string): string {
  if (UNNAMED.has(name)) return OTHER;
  const own = known(dimension, name);
  const usual = paletteOf(dimension)[hash(own) % HUES];
  return `var(${variableOf(dimension, own)}, var(--series-${usual}))`;
}

/**
 * The colours of the series of one chart: those that their names have everywhere, unless two of
 * them would look the same.
 */
export function coloursOf(dimension: string, names: readonly string[]): string[] {
  const taken = slots[dimension] ?? {};
  const named = names.filter((name) => !UNNAMED.has(name)).map((name) => known(dimension, name));
  const own: Slots = {};
  for (const name of named.toSorted()) {
    const slot = taken[name];
    if (slot !== undefined && !Object.values(own).includes(slot)) own[name] = slot;
  }
  const all = assignColours(named, own, paletteOf(dimension));
  return names.map((shown) => {
    const name = known(dimension, shown);
    if (UNNAMED.has(shown) || own[name] !== undefined) return colourOf(dimension, shown);
    const colour = `var(--series-${all[name]})`;
    // A name that is registered later takes its own colour.
    return taken[name] === undefined ? `var(${variableOf(dimension, name)}, ${colour})` : colour;
  });
}

/** Changes when colours are reassigned; for drawing on a canvas. */
export function useColours(): Record<string, Slots> {
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
