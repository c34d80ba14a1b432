import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { curlOfCall, curlOfTrace, quote } from "@/features/trace/curl";
import { lacksTools } from "@/features/trace/modelRequest";
import type { Span } from "@/lib/api";
import type { Message } from "@/lib/messages";

const NASTY = `It's "quoted" \\ back\`tick\` $HOME $(id) !x\n'JSON'\nJSON\n@file ümläut 🙂`;

function call(fields: Partial<Span>, input?: Message[]): Span {
  const said: Message[] = [
    { role: "system", parts: [{ type: "text", text: "Be brief." }] },
    { role: "user", parts: [{ type: "text", text: NASTY }] },
  ];
  return {
    kind: "llm",
    model: "gpt-5",
    provider: "openai",
    attributes: {},
    messages: { input: input ?? said, output: null },
    ...fields,
  } as Span;
}

/** Runs a command in a real shell, in which `curl` prints its arguments and its input. */
function run(command: string): { args: string[]; body: unknown } {
  const curl = `curl() { printf '%s\\0' "$@"; printf 'BODY\\0'; cat; }`;
  const keys = {
    OPENAI_API_KEY: "k-1",
    ANTHROPIC_API_KEY: "k-2",
    OPENAI_BASE_URL: "http://own/v1",
  };
  const out = execFileSync("bash", ["-c", `${curl}\n${command}`], {
    env: { ...process.env, ...keys, SPANWISE_API_KEY: "k-3" },
    input: "",
  }).toString();
  const [args = "", body = ""] = out.split("BODY\0");
  return { args: args.split("\0").slice(0, -1), body: body && JSON.parse(body) };
}

test("a shell reads a quoted argument as it was", () => {
  const out = execFileSync("bash", ["-c", `printf %s ${quote(NASTY)}`]).toString();
  expect(out).toBe(NASTY);
});

test("an OpenAI call is repeated with its parameters and any text", () => {
  const attributes = {
    "gen_ai.request.temperature": 0.2,
    "gen_ai.request.max_tokens": 300,
    "gen_ai.tool.definitions": JSON.stringify([
      { type: "function", function: { name: "search", parameters: { type: "object" } } },
    ]),
  };
  const { args, body } = run(curlOfCall(call({ attributes })) ?? "");
  expect(args).toContain("https://api.openai.com/v1/chat/completions");
  expect(args).toContain("Authorization: Bearer k-1");
  expect(body).toEqual({
    model: "gpt-5",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: NASTY },
    ],
    temperature: 0.2,
    max_completion_tokens: 300,
    tools: [{ type: "function", function: { name: "search", parameters: { type: "object" } } }],
  });
});

const TOOL_TURNS: Message[] = [
  { role: "user", parts: [{ type: "text", text: "Weather?" }] },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "hm" },
      { type: "toolCall", id: "c1", name: "weather", arguments: { city: "L'Aquila" } },
    ],
  },
  { role: "tool", parts: [{ type: "toolResult", id: "c1", name: null, result: { c: 21 } }] },
];

test("tool calls and results have the form of each API", () => {
  const openAi = run(curlOfCall(call({ provider: "groq" }, TOOL_TURNS)) ?? "");
  expect(openAi.args[0]).toBe("https://api.groq.com/openai/v1/chat/completions");
  const called = { name: "weather", arguments: '{"city":"L\'Aquila"}' };
  expect((openAi.body as { messages: unknown }).messages).toEqual([
    { role: "user", content: "Weather?" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: called }],
    },
    { role: "tool", tool_call_id: "c1", content: '{"c":21}' },
  ]);
  const anthropic = run(curlOfCall(call({ provider: "anthropic" }, TOOL_TURNS)) ?? "");
  expect((anthropic.body as { messages: unknown }).messages).toEqual([
    { role: "user", content: [{ type: "text", text: "Weather?" }] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c1", name: "weather", input: { city: "L'Aquila" } }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: '{"c":21}' }] },
  ]);
});

test("an Anthropic call has its system prompt apart, and a limit", () => {
  const attributes = {
    "llm.invocation_parameters": '{"temperature": 1, "stop": ["END"], "user": "x"}',
    "llm.tools.0.tool.json_schema": '{"name": "look", "input_schema": {"type": "object"}}',
  };
  const span = call({ provider: "anthropic", model: "claude-sonnet-4-5", attributes });
  const { args, body } = run(curlOfCall(span) ?? "");
  expect(args).toContain("https://api.anthropic.com/v1/messages");
  expect(args).toContain("x-api-key: k-2");
  expect(args).toContain("anthropic-version: 2023-06-01");
  expect(body).toEqual({
    model: "claude-sonnet-4-5",
    max_tokens: 1024,
    system: "Be brief.",
    messages: [{ role: "user", content: [{ type: "text", text: NASTY }] }],
    temperature: 1,
    stop_sequences: ["END"],
    tools: [{ name: "look", input_schema: { type: "object" } }],
  });
});

test("another provider is called at an address of the caller", () => {
  const { args } = run(curlOfCall(call({ provider: "vllm", model: "own" })) ?? "");
  expect(args[0]).toBe("http://own/v1/chat/completions");
});

test("a span without messages or of another kind has no command", () => {
  expect(curlOfCall(call({ kind: "tool" }))).toBeNull();
  expect(curlOfCall(call({}, []))).toBeNull();
  expect(curlOfCall(call({ model: null }))).toBeNull();
});

test("a trace is fetched with a key", () => {
  const { args } = run(curlOfTrace("http://localhost:8787", "abc"));
  expect(args).toEqual(["http://localhost:8787/api/spans/traces/abc", "-H", "x-api-key: k-3"]);
});

test("a call with tools that the span does not list lacks them", () => {
  const called: Message = {
    role: "assistant",
    parts: [{ type: "toolCall", id: "1", name: "search", arguments: {} }],
  };
  const tools = JSON.stringify([{ type: "function", function: { name: "search" } }]);
  expect(lacksTools(call({}))).toBe(false);
  expect(lacksTools(call({ messages: { input: [], output: [called] } }))).toBe(true);
  expect(lacksTools(call({}, [called]))).toBe(true);
  expect(lacksTools(call({ attributes: { "gen_ai.tool.definitions": tools } }, [called]))).toBe(
    false,
  );
});
