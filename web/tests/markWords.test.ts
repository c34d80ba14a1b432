import { expect, test } from "vitest";
import { findRanges } from "@/ui/markWords";

test("words are found in the text of nested elements, in any case", () => {
  const root = document.createElement("div");
  root.innerHTML = "<p>Flight to <b>Zürich</b></p><p>flights, FLIGHT</p>";
  const found = findRanges(root, ["flight", "zürich"]).map(String);
  expect(found).toEqual(["Flight", "Zürich", "flight", "FLIGHT"]);
  expect(findRanges(root, ["nothing"])).toEqual([]);
});
