import { expect, test } from "vitest";
import { formatCount } from "@/lib/format";
import { type ChartInput, layOut } from "@/ui/chart/layout";
import { findRuns } from "@/ui/chart/paint";

const DAY = 86_400_000;
const today = new Date(Math.floor(Date.now() / DAY) * DAY);
const dates = [4, 3, 2, 1, 0].map((ago) =>
  new Date(today.getTime() - ago * DAY).toISOString().slice(0, 10),
);

function laidOut(part: Partial<ChartInput>, width = 600) {
  const input: ChartInput = { dates, granularity: "daily", series: [], format: String, ...part };
  return layOut(input, width, 180, (text) => 6 * text.length);
}

function ticks(values: (number | null)[], part: Partial<ChartInput> = {}) {
  const layout = laidOut({ series: [{ name: "n", colour: "red", values }], ...part });
  return layout.yLabels.map((label) => label.text);
}

test("gaps stay gaps", () => {
  expect(findRuns([5, null, 0, 7, null, null, 2])).toEqual([
    [0, 0],
    [2, 3],
    [6, 6],
  ]);
});

test("the axis has round steps and shows all there is, 0 among it", () => {
  expect(ticks([1, 2, 3, 4, 5])).toEqual(["0", "2", "4", "6"]);
  expect(ticks([0.11, 0.1 + 0.2])).toEqual(["0", "0.1", "0.2", "0.3"]);
  expect(ticks([-4, 8])).toEqual(["-5", "0", "5", "10"]);
  expect(ticks([0, 0])).toEqual(["0", "0.5", "1"]);
  expect(ticks([null])).toEqual(ticks([0]));
});

test("there is no half a trace", () => {
  expect(ticks([0, 1], { format: formatCount })).toEqual(["0", "1"]);
});

test("a threshold above all values is on the chart", () => {
  const levels = [{ value: 90, label: "90", colour: "red" }];
  const { yOf, top, bottom } = laidOut({
    series: [{ name: "n", colour: "red", values: [1, 2] }],
    levels,
  });
  expect(yOf(90)).toBeGreaterThanOrEqual(top);
  expect(yOf(90)).toBeLessThan(bottom);
});

test("of a stack each stands on those below it, and the axis holds the sum", () => {
  const bars = { type: "bar", stack: "all", colour: "red" } as const;
  const { layers, yLabels } = laidOut({
    series: [
      { ...bars, name: "a", values: [1, null, 3] },
      { ...bars, name: "b", values: [10, 20, 30] },
      { name: "c", colour: "red", values: [5, 5, 5] },
    ],
  });
  expect(layers.map((layer) => layer.bases)).toEqual([
    [0, 0, 0],
    [1, 0, 3],
    [0, 0, 0],
  ]);
  expect(layers[1]?.tops).toEqual([11, 20, 33]);
  expect(yLabels.at(-1)?.text).toBe("40");
});

test("a bucket is found again where it stands, and beyond the edges the outermost", () => {
  const { xOf, indexAt } = laidOut({ series: [{ name: "n", colour: "red", values: [1] }] });
  expect(dates.map((_, index) => indexAt(xOf(index)))).toEqual([0, 1, 2, 3, 4]);
  expect([indexAt(-50), indexAt(5000)]).toEqual([0, 4]);
});

test("only the last bucket may be running, and only until it is over", () => {
  expect(laidOut({}).isRunning).toBe(true);
  expect(laidOut({ dates: dates.slice(0, 4) }).isRunning).toBe(false);
  expect(laidOut({ dates: [] }).isRunning).toBe(false);
});

test("an incident is marked from its bucket to its last one", () => {
  const stretches = [{ from: `${dates[1]}T05:00:00Z`, to: `${dates[2]}T09:00:00Z`, colour: "red" }];
  expect(laidOut({ stretches }).stretches).toEqual([{ first: 1, last: 2, colour: "red" }]);
});

test("labels of a week of hours stand at midnight, and nowhere do they overlap", () => {
  const hours = Array.from({ length: 168 }, (_, hour) =>
    new Date(today.getTime() - (168 - hour) * 3_600_000).toISOString(),
  );
  const wide = laidOut({ dates: hours, granularity: "hourly" });
  // In some zones the last midnight is so close to the edge that there is no room for its label.
  expect([6, 7]).toContain(wide.xLabels.length);
  for (const { text } of wide.xLabels) expect(text).toMatch(/^\d+ [A-Z]/);
  const narrow = laidOut({ dates: hours, granularity: "hourly" }, 200).xLabels;
  expect(narrow.length).toBeLessThan(4);
  expect(narrow.length).toBeGreaterThan(0);
});
