import { expect, test, vi } from "vitest";
import { buildOption, type ChartInput } from "@/ui/chart/option";

// jsdom has no media.
vi.stubGlobal("matchMedia", () => ({ matches: false }));

const DAY = 86_400_000;
const today = new Date(Math.floor(Date.now() / DAY) * DAY);
const dates = [4, 3, 2, 1, 0].map((ago) =>
  new Date(today.getTime() - ago * DAY).toISOString().slice(0, 10),
);

function drawn(part: Partial<ChartInput>) {
  const input: ChartInput = { dates, granularity: "daily", series: [], format: String, ...part };
  return buildOption(input, 600).series as {
    type: string;
    stack: string;
    data: unknown[];
    areaStyle?: object;
  }[];
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
  const [full, pale] = drawn({ series: [{ name: "n", colour: "red", values, type: "bar" }] });
  expect(full?.data).toEqual([1, 2, 3, 4, null]);
  expect(pale).toMatchObject({ data: [[4, 5]], itemStyle: { opacity: 0.4 } });
  // On one another, not side by side at half the width.
  expect(pale?.stack).toBe(full?.stack);
  const [solid, dashed] = drawn({ series: [{ name: "n", colour: "red", values }] });
  expect(solid?.data).toEqual([1, 2, 3, 4, null]);
  expect(dashed?.data).toEqual([
    [3, 4],
    [4, 5],
  ]);
});

test("an incident is marked from its bucket to its last one", () => {
  const series = [{ name: "n", colour: "red", values: [1, 2, 3, 4, 5], type: "bar" as const }];
  const stretches = [{ from: `${dates[1]}T05:00:00Z`, to: `${dates[2]}T09:00:00Z`, colour: "red" }];
  const marks = drawn({ series, stretches }).at(-1) as unknown as {
    markArea: { data: { xAxis: number }[][] };
  };
  expect(marks.markArea.data[0]?.map((end) => end.xAxis)).toEqual([1, 2]);
});

test("hundreds of bars are drawn as one path, a few as bars", () => {
  const many = Array.from({ length: 168 }, (_, hour) =>
    new Date(today.getTime() - (168 - hour) * 3_600_000).toISOString(),
  );
  const bars = (count: number) => [
    { name: "n", colour: "red", values: new Array(count).fill(1), type: "bar" as const },
  ];
  expect(drawn({ dates: many, series: bars(168) })[0]).toMatchObject({ large: true });
  expect(drawn({ series: bars(5) })[0]).toMatchObject({ large: false });
});
