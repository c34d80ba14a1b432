import { expect, test } from "vitest";
import { asDays, describe as describePreview } from "@/features/workspace/Retention";

test("an empty field keeps everything, and only whole days are valid", () => {
  expect(asDays(" ")).toBeNull();
  expect(asDays("30")).toBe(30);
  for (const text of ["0", "-1", "1.5", "36501", "x"]) expect(asDays(text)).toBeUndefined();
});

test("the preview is one sentence", () => {
  expect(describePreview({ rows: {}, spansWithoutContents: 0 })).toBe("Nothing.");
  const rows = { traces: 1200, logs: 0 };
  expect(describePreview({ rows, spansWithoutContents: 0 })).toBe("1,200 traces are deleted.");
  expect(describePreview({ rows: { spans: 1 }, spansWithoutContents: 1 })).toBe(
    "1 span is deleted. The contents of 1 span are removed.",
  );
  expect(describePreview({ rows: {}, spansWithoutContents: 5 })).toBe(
    "The contents of 5 spans are removed.",
  );
});
