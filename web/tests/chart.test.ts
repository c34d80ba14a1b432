import { expect, test } from "vitest";
import { buildOption, type ChartInput } from "@/ui/chart/option";

const DAY = 86_400_000;
const today = new Date(Math.floor(Date.now() / DAY) * DAY);
const dates = [4, 3, 2, 1, 0].map((ago) =>
  new Date(today.getTime() - ago * DAY).toISOString().slice(0, 10),
);

function drawn(part: Partial<ChartInput>) {
  const input: ChartInput = { dates, granularity: "daily", series: [], format: String, ...part };
  return buildOption(input, 600).series as { type: string; data: unknown[]; areaStyle?: object }[];
}

test("gaps stay gaps and zeros stay zeros", () => {
  const past = dates.slice(0, 4);
  const [line] = drawn({
    dates: past,
    series: [{ name: "p95", colour: "red", values: [5, null, 0, 7] }],
  });
  expect(line?.data).toEqual([5, null, 0, 7]);
});

test("the running bucket is lighter: a pale bar, a dashed end of a line", () => {
  const values = [1, 2, 3, 4, 5];
  const [bars] = drawn({ series: [{ name: "n", colour: "red", values, type: "bar" }] });
  expect(bars?.data.slice(0, 4)).toEqual([1, 2, 3, 4]);
  expect(bars?.data[4]).toMatchObject({ value: 5, itemStyle: { opacity: 0.4 } });
  const [solid, dashed] = drawn({ series: [{ name: "n", colour: "red", values }] });
  expect(solid?.data).toEqual([1, 2, 3, 4, null]);
  expect(dashed?.data).toEqual([null, null, null, 4, 5]);
});

test("an incident is marked from its bucket to its last one", () => {
  const series = [{ name: "n", colour: "red", values: [1, 2, 3, 4, 5], type: "bar" as const }];
  const stretches = [{ from: `${dates[1]}T05:00:00Z`, to: `${dates[2]}T09:00:00Z`, colour: "red" }];
  const marks = drawn({ series, stretches }).at(-1) as unknown as {
    markArea: { data: { xAxis: number }[][] };
  };
  expect(marks.markArea.data[0]?.map((end) => end.xAxis)).toEqual([1, 2]);
});
