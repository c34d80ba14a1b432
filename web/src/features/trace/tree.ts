/** Spans as a tree on one time axis. No recursion: a trace can be 10,000 spans deep. */
import type { Span } from "@/lib/api";

export interface Node {
  span: Span;
  parent: Node | null;
  children: Node[];
  depth: number;
  /** Milliseconds since the first span, with fractions. */
  start: number;
  end: number;
}

export interface Tree {
  roots: Node[];
  nodes: Map<string, Node>;
  /** The whole length in milliseconds, never zero. */
  length: number;
  critical: Set<string>;
}

/** Milliseconds with the microseconds that Date drops. */
export function toMs(iso: string): number {
  const dot = iso.indexOf(".");
  if (dot === -1) return Date.parse(iso);
  return Date.parse(`${iso.slice(0, dot)}Z`) + Number(`0${iso.slice(dot, -1)}`) * 1000;
}

export function buildTree(spans: Span[]): Tree {
  const zero = spans.reduce(
    (least, span) => Math.min(least, toMs(span.startTime)),
    Number.POSITIVE_INFINITY,
  );
  const nodes = new Map<string, Node>();
  for (const span of spans) {
    const start = toMs(span.startTime) - zero;
    const end = Math.max(start, toMs(span.endTime) - zero);
    nodes.set(span.spanId, { span, parent: null, children: [], depth: 0, start, end });
  }
  const roots = linkParents(nodes);
  setDepths(roots);
  let length = 0;
  for (const node of nodes.values()) length = Math.max(length, node.end);
  return { roots, nodes, length: length || 1, critical: findCriticalPath(roots) };
}

/** Links nodes to their parents; a node without a parent, or in a cycle, is a root. */
function linkParents(nodes: Map<string, Node>): Node[] {
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.span.parentSpanId ?? "");
    if (!parent || hasAncestor(parent, node)) {
      roots.push(node);
    } else {
      node.parent = parent;
      parent.children.push(node);
    }
  }
  const byStart = (a: Node, b: Node) => a.start - b.start || b.end - a.end;
  for (const node of nodes.values()) node.children.sort(byStart);
  return roots.sort(byStart);
}

function hasAncestor(node: Node, wanted: Node): boolean {
  for (let at: Node | null = node; at; at = at.parent) if (at === wanted) return true;
  return false;
}

function setDepths(roots: Node[]) {
  const waiting = [...roots];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    for (const child of node.children) {
      child.depth = node.depth + 1;
      waiting.push(child);
    }
  }
}

/** The visible nodes in order, without children of collapsed nodes. */
export function visibleNodes(roots: Node[], folded: ReadonlySet<string>): Node[] {
  const shown: Node[] = [];
  const waiting = roots.toReversed();
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    shown.push(node);
    if (folded.has(node.span.spanId)) continue;
    for (let index = node.children.length - 1; index >= 0; index--) {
      const child = node.children[index];
      if (child) waiting.push(child);
    }
  }
  return shown;
}

/**
 * The spans that determined the duration of the trace. Walks backwards from the end of the last
 * root: at each point the child that ended last before it is on the path.
 */
export function findCriticalPath(roots: Node[]): Set<string> {
  const path = new Set<string>();
  const last = roots.reduce<Node | null>(
    (best, node) => (!best || node.end > best.end ? node : best),
    null,
  );
  const waiting: { node: Node; until: number }[] = last ? [{ node: last, until: last.end }] : [];
  for (let item = waiting.pop(); item; item = waiting.pop()) {
    const { node, until } = item;
    path.add(node.span.spanId);
    let reached = Math.min(until, node.end);
    for (const child of node.children.toSorted((a, b) => b.end - a.end)) {
      // A child that ended after this point did not delay what followed.
      if (child.start >= reached || child.end > reached + 0.001) continue;
      waiting.push({ node: child, until: reached });
      reached = child.start;
    }
  }
  return path;
}

/** The first span that failed by itself and not because a child of it failed. */
export function findFailure(shown: Node[]): Node | undefined {
  const isFailed = ({ span }: Node) => span.status === "error";
  return shown.find((node) => isFailed(node) && !node.children.some(isFailed));
}

/** The id of the next failed span, wrapping around at the end. */
export function nextError(shown: Node[], after: string | undefined): string | undefined {
  const from = shown.findIndex((node) => node.span.spanId === after);
  const turned = [...shown.slice(from + 1), ...shown.slice(0, from + 1)];
  return turned.find((node) => node.span.status === "error")?.span.spanId;
}

/** Expands all ancestors of a node. */
export function revealed(folded: ReadonlySet<string>, node: Node | undefined): Set<string> {
  const next = new Set(folded);
  for (let at = node?.parent; at; at = at.parent) next.delete(at.span.spanId);
  return next;
}
