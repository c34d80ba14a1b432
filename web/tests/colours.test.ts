import { beforeEach, expect, test } from "vitest";
import { MEASURE_NAMES } from "@/lib/analyticsQuery";
import { colourOf, coloursOf, registerNames } from "@/lib/colours";
import { measureSeries } from "@/lib/series";

const NAMES = Array.from({ length: 10 }, (_, at) => `name-${at}`);

/** What a colour is drawn as: the published variable, or what stands in for it. */
function shown(colour: string): string {
  const [, variable = "", fallback = colour] = /^var\((--name-\w+), (.*)\)$/.exec(colour) ?? [];
  return document.documentElement.style.getPropertyValue(variable) || fallback;
}

beforeEach(() => registerNames({ agent: NAMES, model: NAMES, tool: NAMES }));

test("a name has one colour within its dimension, in every chart", () => {
  for (const dimension of ["agent", "model", "tool"]) {
    const alone = NAMES.map((name) => shown(colourOf(dimension, name)));
    expect(new Set(alone).size).toBe(NAMES.length);
    expect(coloursOf(dimension, NAMES).map(shown)).toEqual(alone);
    expect(coloursOf(dimension, NAMES.slice(4, 5)).map(shown)).toEqual(alone.slice(4, 5));
  }
});

test("an agent never looks like a model or a tool, nor does any of them look like a measure", () => {
  const of = (dimension: string) => NAMES.map((name) => shown(colourOf(dimension, name)));
  const agents = new Set(of("agent"));
  for (const other of [...of("model"), ...of("tool"), shown(colourOf("model", "not known yet"))]) {
    expect(agents.has(other)).toBe(false);
  }
  const measures = MEASURE_NAMES.map((name) => measureSeries(name)?.colour);
  for (const colour of measures) expect(colour).toMatch(/^var\(--(measure-\d|bad)\)$/);
});

test("a coding agent has one colour under both of its names", () => {
  registerNames({ agent: ["Claude Code", "claude-code", "codex_cli_rs", "gemini-cli"] });
  expect(colourOf("agent", "claude-code")).toBe(colourOf("agent", "Claude Code"));
  expect(colourOf("agent", "codex_cli_rs")).toBe(colourOf("agent", "Codex"));
  expect(shown(colourOf("agent", "claude-code"))).not.toBe(shown(colourOf("agent", "gemini-cli")));
});

test("what has no name is grey", () => {
  for (const name of ["other", "(none)"]) {
    expect(colourOf("agent", name)).toBe("var(--series-other)");
    expect(coloursOf("model", [name])).toEqual(["var(--series-other)"]);
  }
});
