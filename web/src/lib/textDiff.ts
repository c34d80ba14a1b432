/** The difference of two texts by words (Myers 1986). */

export interface Piece {
  kind: "same" | "removed" | "added";
  text: string;
}

/** More differing words than this are shown as one replacement: the time grows with its square. */
const MAX_EDITS = 1000;

/** Words, runs of white space, and single other characters. */
export function splitWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

export function diffWords(before: string, after: string): Piece[] {
  const [left, right] = [splitWords(before), splitWords(after)];
  const shortest = Math.min(left.length, right.length);
  let start = 0;
  while (start < shortest && left[start] === right[start]) start++;
  let end = 0;
  while (end < shortest - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  const pieces: Piece[] = [];
  add(pieces, "same", left.slice(0, start));
  const changed = diffMiddle(
    left.slice(start, left.length - end),
    right.slice(start, right.length - end),
  );
  for (const { kind, text } of changed) add(pieces, kind, [text]);
  add(pieces, "same", end > 0 ? left.slice(-end) : []);
  return pieces;
}

function add(pieces: Piece[], kind: Piece["kind"], words: readonly string[]) {
  const text = words.join("");
  if (text === "") return;
  const last = pieces.at(-1);
  if (last?.kind === kind) last.text += text;
  else pieces.push({ kind, text });
}

function diffMiddle(left: readonly string[], right: readonly string[]): Piece[] {
  const history = findPath(left, right);
  if (!history) {
    return [
      { kind: "removed", text: left.join("") },
      { kind: "added", text: right.join("") },
    ];
  }
  const found: Piece[] = [];
  let [x, y] = [left.length, right.length];
  for (let edits = history.length - 1; edits >= 0; edits--) {
    const furthest = history[edits] as Map<number, number>;
    const diagonal = x - y;
    const isAdded = goesDown(furthest, diagonal, edits);
    const from = isAdded ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : (furthest.get(from) ?? 0);
    const fromY = edits === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY && left[x - 1] === right[y - 1]) {
      found.push({ kind: "same", text: left[--x] as string });
      y--;
    }
    if (edits === 0) break;
    if (isAdded) found.push({ kind: "added", text: right[--y] as string });
    else found.push({ kind: "removed", text: left[--x] as string });
  }
  return found.reverse();
}

/** The furthest position on each diagonal before every edit; null with too many edits. */
function findPath(left: readonly string[], right: readonly string[]) {
  const furthest = new Map<number, number>();
  const history: Map<number, number>[] = [];
  const most = Math.min(MAX_EDITS, left.length + right.length);
  for (let edits = 0; edits <= most; edits++) {
    history.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const isAdded = goesDown(furthest, diagonal, edits);
      let x = isAdded ? (furthest.get(diagonal + 1) ?? 0) : (furthest.get(diagonal - 1) ?? 0) + 1;
      if (edits === 0) x = 0;
      let y = x - diagonal;
      while (x < left.length && y < right.length && left[x] === right[y]) {
        x++;
        y++;
      }
      furthest.set(diagonal, x);
      if (x >= left.length && y >= right.length) return history;
    }
  }
  return null;
}

function goesDown(furthest: Map<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  if (diagonal === edits) return false;
  return (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1);
}
