import { describe, expect, it, test } from "vitest";
import { dragSize, fitSize, movePanel, placeAt } from "@/features/dashboards/layout";
import type { Panel } from "@/lib/queryDraft";

const panels = ["a", "b", "c"].map((title) => ({ title }) as Panel);
const titles = (found: Panel[]) => found.map(({ title }) => title).join("");

test("a panel moves in front of another one, or to the end", () => {
  expect(titles(movePanel(panels, 0, 2))).toBe("bac");
  expect(titles(movePanel(panels, 2, 0))).toBe("cab");
  expect(titles(movePanel(panels, 0, 3))).toBe("bca");
  expect(titles(movePanel(panels, 1, 1))).toBe("abc");
  expect(titles(movePanel(panels, 1, 2))).toBe("abc");
});

describe("the size of a dragged panel", () => {
  it("snaps to columns and rows", () => {
    const size = { width: 6, height: 4 };
    expect(dragSize(size, 600, 140, 0)).toEqual({ width: 7, height: 4 });
    expect(dragSize(size, 600, 40, 30)).toEqual({ width: 6, height: 4 });
    expect(dragSize(size, 600, -205, 80)).toEqual({ width: 4, height: 5 });
  });

  it("stays within the grid", () => {
    expect(dragSize({ width: 6, height: 4 }, 600, 5000, 5000)).toEqual({ width: 12, height: 24 });
    expect(fitSize({ width: 0, height: -3 })).toEqual({ width: 1, height: 1 });
  });
});

test("a pointer drops in front of the panel under it, or behind its middle", () => {
  const boxes = [0, 100].map((left) => ({ left, right: left + 90, top: 0, bottom: 50 }));
  expect(placeAt(boxes, 10, 10)).toBe(0);
  expect(placeAt(boxes, 60, 10)).toBe(1);
  expect(placeAt(boxes, 110, 10)).toBe(1);
  expect(placeAt(boxes, 180, 10)).toBe(2);
  expect(placeAt(boxes, 95, 10)).toBeNull();
});
