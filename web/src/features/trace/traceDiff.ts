/** Matches the spans of two traces by their place in the tree, their name and their kind. */
import type { Span } from "@/lib/api";
import type { Message } from "@/lib/messages";
import { buildTree, type Node } from "./tree";

export interface SpanPair {
  depth: number;
  left: Span | null;
  right: Span | null;
}

export type PairState = "same" | "changed" | "left" | "right";

/** More children than this are matched in their order only: the time grows with its square. */
const MAX_CHILDREN = 400;

/** The pairs of both traces in the order of a waterfall. No recursion: traces may be deep. */
export function pairSpans(left: Span[], right: Span[]): SpanPair[] {
  const pairs: SpanPair[] = [];
  type Step = { left: Node | null; right: Node | null; depth: number };
  const waiting: Step[] = [];
  const push = (lefts: Node[], rights: Node[], depth: number) => {
    for (const [one, other] of matchNodes(lefts, rights).reverse()) {
      waiting.push({ left: one, right: other, depth });
    }
  };
  push(buildTree(left).roots, buildTree(right).roots, 0);
  for (let step = waiting.pop(); step; step = waiting.pop()) {
    pairs.push({
      depth: step.depth,
      left: step.left?.span ?? null,
      right: step.right?.span ?? null,
    });
    push(step.left?.children ?? [], step.right?.children ?? [], step.depth + 1);
  }
  return pairs;
}

/** Calls of different models match: their names differ by the model. */
function keyOf({ span }: Node): string {
  const name = span.model ? span.name.replace(span.model, "") : span.name;
  return `${span.kind}\n${span.toolName ?? ""}\n${name}`;
}

type Match = [Node | null, Node | null];

/** The longest common sequence of names and kinds; roots always match if both have one. */
function matchNodes(lefts: Node[], rights: Node[]): Match[] {
  const [onlyLeft, onlyRight] = [lefts[0], rights[0]];
  if (lefts.length === 1 && rights.length === 1 && onlyLeft && onlyRight) {
    const isPair = !onlyLeft.parent || keyOf(onlyLeft) === keyOf(onlyRight);
    return isPair
      ? [[onlyLeft, onlyRight]]
      : [
          [onlyLeft, null],
          [null, onlyRight],
        ];
  }
  const [a, b] = [lefts.map(keyOf), rights.map(keyOf)];
  const lengths = commonLengths(a, b);
  const found: Match[] = [];
  let [x, y] = [0, 0];
  while (x < a.length || y < b.length) {
    const [one, other] = [lefts[x] ?? null, rights[y] ?? null];
    if (one && other && a[x] === b[y]) {
      found.push([one, other]);
      x++;
      y++;
    } else if (
      other === null ||
      (one && lengthAt(lengths, x + 1, y) >= lengthAt(lengths, x, y + 1))
    ) {
      found.push([one, null]);
      x++;
    } else {
      found.push([null, other]);
      y++;
    }
  }
  return found;
}

function lengthAt(lengths: Uint16Array[] | null, x: number, y: number): number {
  return lengths?.[x]?.[y] ?? 0;
}

/** The length of the longest common sequence from each pair of places on. */
function commonLengths(a: string[], b: string[]): Uint16Array[] | null {
  if (a.length > MAX_CHILDREN || b.length > MAX_CHILDREN) return null;
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let x = a.length - 1; x >= 0; x--) {
    for (let y = b.length - 1; y >= 0; y--) {
      const value =
        a[x] === b[y]
          ? lengthAt(rows, x + 1, y + 1) + 1
          : Math.max(lengthAt(rows, x + 1, y), lengthAt(rows, x, y + 1));
      (rows[x] as Uint16Array)[y] = value;
    }
  }
  return rows;
}

/** A pair changed if its status, name, model or content differs; durations always do. */
export function stateOf({ left, right }: SpanPair): PairState {
  if (!left) return "right";
  if (!right) return "left";
  const isSame = (["name", "kind", "status", "errorType", "model", "toolName"] as const).every(
    (field) => left[field] === right[field],
  );
  const hasSameContent = (["input", "output"] as const).every(
    (field) => contentText(left, field) === contentText(right, field),
  );
  return isSame && hasSameContent ? "same" : "changed";
}

/** The messages of a span as text, or else its raw content. */
export function contentText(span: Span | null, side: "input" | "output"): string {
  const messages = span?.messages?.[side];
  return messages ? messages.map(messageText).join("\n\n") : toText(span?.[side]);
}

function messageText({ role, parts }: Message): string {
  const texts = parts.map((part) => {
    if ("text" in part && typeof part.text === "string") return part.text;
    const { type, ...rest } = part;
    return `${type} ${JSON.stringify(rest, null, 2)}`;
  });
  return [`${role}:`, ...texts].join("\n");
}

/** Content as text: JSON is indented, so that it can be compared by lines and words. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try {
    const read: unknown = JSON.parse(value);
    return typeof read === "object" && read !== null ? JSON.stringify(read, null, 2) : value;
  } catch {
    return value;
  }
}
