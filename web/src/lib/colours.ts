/** Agents and models keep one colour each, in every chart and on every visit. */

const SLOTS = 10;
const KEY = "spanwise.colours";
const OTHER = "var(--series-other)";
const MOST = 500;

function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 16777619) >>> 0;
  }
  return value;
}

function load(): Record<string, number> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

const taken: Record<string, number> = load();

/** The hash decides; where another name has that colour, the least used one nearby is taken. */
function choose(name: string): number {
  const uses = new Array<number>(SLOTS).fill(0);
  for (const slot of Object.values(taken)) uses[slot] = (uses[slot] ?? 0) + 1;
  const first = hash(name) % SLOTS;
  const order = Array.from({ length: SLOTS }, (_, step) => (first + step) % SLOTS);
  return order.reduce((best, slot) => ((uses[slot] ?? 0) < (uses[best] ?? 0) ? slot : best), first);
}

export function colourOf(name: string): string {
  if (name === "other" || name === "unknown") return OTHER;
  if (taken[name] === undefined) {
    if (Object.keys(taken).length >= MOST) return `var(--series-${hash(name) % SLOTS})`;
    taken[name] = choose(name);
    localStorage.setItem(KEY, JSON.stringify(taken));
  }
  return `var(--series-${taken[name]})`;
}

/** A canvas cannot read variables: resolve `var(--x)` to what it means in the current theme. */
export function resolveColour(colour: string): string {
  const probe = document.createElement("span");
  probe.style.color = colour;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
