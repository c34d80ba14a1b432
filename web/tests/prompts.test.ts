import { expect, test } from "vitest";
import { findPrompt, splitTemplate } from "@/features/trace/prompts";
import type { Span } from "@/lib/api";

const prompt = (attributes: Record<string, unknown>) => findPrompt({ attributes } as Span);

test("the template and variables of OpenInference are read", () => {
  const found = prompt({
    "llm.prompt_template.template": "Answer {question} in {language}.",
    "llm.prompt_template.variables": '{"question": "Why?", "language": "German"}',
    "llm.prompt_template.version": "v2",
  });
  expect(found).toEqual({
    version: "v2",
    template: "Answer {question} in {language}.",
    variables: { question: "Why?", language: "German" },
  });
});

test("the names of Langfuse and OpenTelemetry are read without a template", () => {
  expect(
    prompt({
      "langfuse.observation.prompt.name": "qa",
      "langfuse.observation.prompt.version": 3,
    }),
  ).toEqual({ name: "qa", version: "3", variables: {} });
  expect(prompt({ "gen_ai.prompt.name": "qa" })?.name).toBe("qa");
});

test("the template of Traceloop may have several messages", () => {
  const found = prompt({
    "traceloop.prompt.key": "qa",
    "traceloop.prompt.template": '[{"role": "system", "content": "Be {{tone}}."}]',
    "traceloop.prompt.template_variables": '{"tone": "kind"}',
  });
  expect(found?.template).toBe("system: Be {{tone}}.");
  expect(found?.variables).toEqual({ tone: "kind" });
});

test("a span without a prompt has none, and invalid variables are ignored", () => {
  expect(prompt({ "gen_ai.prompt.0.content": "hi" })).toBeNull();
  const odd = { "llm.prompt_template.template": "x", "llm.prompt_template.variables": "[1" };
  expect(prompt(odd)?.variables).toEqual({});
});

test.each([
  ["Hi {name}!", { name: "A" }, ["name"]],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder
  ["{{ a }} and ${b.c}", { a: 1, "b.c": 2 }, ["a", "b.c"]],
  ['Reply as {"answer": {text}}', { text: "x" }, ["text"]],
  ["No {known} variables", {}, ["known"]],
  ["Only {this} one", { other: 1 }, []],
])("the variables of %s are marked", (template, variables, expected) => {
  const pieces = splitTemplate(template, variables);
  expect(pieces.map((piece) => piece.text).join("")).toBe(template);
  expect(pieces.flatMap(({ variable }) => variable ?? [])).toEqual(expected);
});
