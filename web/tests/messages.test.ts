import { expect, test } from "vitest";
import { previewText } from "@/lib/messages";

test("a preview shows the text, also of truncated JSON", () => {
  const cut = '[{"role":"user","parts":[{"type":"text","content":"Say \\"hi\\" to M\\u00e4';
  expect(previewText(cut)).toBe('Say "hi" to Mä');
  expect(previewText('{"system":"Be brief.","prompt":"Weather?"}')).toBe("Weather?");
  expect(previewText("plain")).toBe("plain");
  expect(previewText('{"number": 3}')).toBe('{"number": 3}');
});
