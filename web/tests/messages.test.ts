import { expect, test } from "vitest";
import { previewText } from "@/lib/messages";

test("a preview shows the text, also of truncated JSON", () => {
  const cut = '[{"role":"user","parts":[{"type":"text","content":"Say \\"hi\\" to M\\u00e4';
  expect(previewText(cut)).toBe('Say "hi" to Mä');
  expect(previewText('{"system":"Be brief.","prompt":"Weather?"}')).toBe("Weather?");
  expect(previewText("plain")).toBe("plain");
  expect(previewText('{"number": 3}')).toBe('{"number": 3}');
});

test.each([
  ["## Summary\n**Two** flights, *one* train", "Summary\nTwo flights, one train"],
  ["- `get_weather` for [Paris](https://example.com/a)", "get_weather for Paris"],
  ["> quoted\n```python\ncode", "quoted\n\ncode"],
  ["2 * 3 * 4 and a*b*c and snake_case_name", "2 * 3 * 4 and a*b*c and snake_case_name"],
  ['[{"role":"user","content":"**Hi**"}]', "Hi"],
])("a preview of %j shows no marks of markdown", (text, expected) => {
  expect(previewText(text)).toBe(expected);
});
