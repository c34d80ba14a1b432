/** Finds room for the label of a horizontal line in a plot, in pixels. */

export type Point = { x: number; y: number } | null;
interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The first place for the label of a level that no line crosses: above or below, from the right. */
export function placeLabel(
  lines: Point[][],
  level: number,
  { width, height }: { width: number; height: number },
  area: Box,
): Box {
  const hasRoomAbove = level - height >= area.top;
  const hasRoomBelow = level + height <= area.bottom;
  const tops = [
    ...(hasRoomAbove ? [level - height] : []),
    ...(hasRoomBelow || !hasRoomAbove ? [level] : []),
  ];
  const boxes: Box[] = [];
  for (let right = area.right; right - width >= area.left; right -= width) {
    for (const top of tops) {
      boxes.push({ left: right - width, top, right, bottom: top + height });
    }
  }
  const [first] = boxes;
  const free = boxes.find((box) => !lines.some((points) => crosses(points, box)));
  return (
    free ?? first ?? { left: area.left, top: level, right: area.right, bottom: level + height }
  );
}

function crosses(points: Point[], box: Box): boolean {
  return points.some((end, index) => {
    if (!end) return false;
    const start = points[index - 1] ?? end;
    if (end.x < box.left || start.x > box.right) return false;
    // The part of the segment that is as far left and right as the box.
    const at = (x: number) =>
      start.x === end.x ? end.y : start.y + ((end.y - start.y) * (x - start.x)) / (end.x - start.x);
    const ys = [at(Math.max(start.x, box.left)), at(Math.min(end.x, box.right))];
    return Math.max(...ys) >= box.top && Math.min(...ys) <= box.bottom;
  });
}
