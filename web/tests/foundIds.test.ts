import { expect, test } from "vitest";
import { bestMatches } from "@/app/useFoundIds";

test("the id itself comes first, then those that begin with the text", () => {
  const ids = ["old-ada-2", "ada-2", "ada-21", "Ada", "ada-1"];
  expect(bestMatches(ids, "ada-2", 9)).toEqual(["ada-2", "ada-21", "old-ada-2", "Ada", "ada-1"]);
  expect(bestMatches(ids, "ada", 3)).toEqual(["Ada", "ada-2", "ada-21"]);
});
