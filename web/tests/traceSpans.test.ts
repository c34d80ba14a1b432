import { expect, test } from "vitest";
import { errorName } from "@/features/trace/errors";
import { explainUncounted, whyUncounted } from "@/features/trace/usage";
import type { Span } from "@/lib/api";

const span = (fields: Partial<Span>) =>
  ({
    kind: "llm",
    totalTokens: 10,
    cost: 0.5,
    countedIn: null,
    events: [],
    attributes: {},
    ...fields,
  }) as Span;

test("usage is not counted twice, and the header says so", () => {
  const spans = [
    span({}),
    span({ countedIn: "0123" }),
    span({ kind: "agent" }),
    span({ kind: "tool", totalTokens: 0, cost: 0 }),
  ];
  expect(spans.map(whyUncounted)).toEqual([null, "counted elsewhere", "kind", null]);
  const words = explainUncounted(spans) ?? "";
  expect(words).toContain("1 span ($0.50) reporting a call that another span counts");
  expect(words).toContain("1 span ($0.50) other than model calls");
  expect(explainUncounted([span({})])).toBeNull();
});

test("an error has the name of its exception, without the module", () => {
  const raised = (type: string) => ({
    name: "exception",
    time: null,
    attributes: { "exception.type": type },
  });
  const of = (type: string, errorType: Span["errorType"] = "other") =>
    errorName(span({ errorType, events: [raised(type)] }));
  expect(of("openai.errors.ContentFiltered")).toBe("ContentFiltered");
  expect(of("ContentFiltered")).toBe("ContentFiltered");
  expect(errorName(span({ attributes: { "error.type": "timeout" }, errorType: "timeout" }))).toBe(
    undefined,
  );
  expect(errorName(span({}))).toBeUndefined();
});
