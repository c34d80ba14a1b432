import { beforeEach, expect, test } from "vitest";
import { inBatches } from "@/lib/batch";
import { workspace } from "@/lib/workspace";

interface Sent {
  path: string;
  paths: string[];
  workspaceId: string | null;
  signal: AbortSignal;
}

let sent: Sent[];
let answerBatch: (lines: string[]) => Response;

beforeEach(() => {
  sent = [];
  answerBatch = (lines) => new Response(envelope(lines));
});

const envelope = (lines: string[]) => `{"success":true,"data":[\n${lines.join(",")}]}`;

/** A service that answers each request with its path. */
async function send(request: Request): Promise<Response> {
  const path = request.url.slice(location.origin.length);
  const body = request.body ? await request.clone().json() : {};
  const asked: { path: string; query?: object; body?: unknown }[] = body.requests ?? [];
  sent.push({
    path,
    paths: asked.map((one) => one.path),
    workspaceId: request.headers.get("X-Workspace-Id"),
    signal: request.signal,
  });
  if (!asked.length) return Response.json({ data: path });
  return answerBatch(
    asked.map((one) => `${JSON.stringify({ status: 200, body: { data: one } })}\n`),
  );
}

const fetchIt = inBatches(send);
const get = (path: string, options: RequestInit = {}) =>
  fetchIt(new Request(`${location.origin}${path}`, options));
const read = async (pending: Promise<Response>) => (await (await pending).json()).data;

test("reads that start together are one request, and each gets its own answer", async () => {
  const body = JSON.stringify({ measures: ["count"] });
  const found = await Promise.all([
    read(get("/api/analytics/metrics?startDate=2026-01-31&search=a%26b")),
    read(get("/api/agents")),
    read(get("/api/analytics/query", { method: "POST", body })),
  ]);
  expect(sent).toHaveLength(1);
  expect(found).toEqual([
    { path: "/api/analytics/metrics", query: { startDate: "2026-01-31", search: "a&b" } },
    { path: "/api/agents", query: {} },
    { path: "/api/analytics/query", body: { measures: ["count"] } },
  ]);
});

test("a single read, writes and reads of other limits are sent as they are", async () => {
  expect(await read(get("/api/agents"))).toBe("/api/agents");
  await Promise.all([
    read(get("/api/spans/traces")),
    read(get("/api/keys")),
    read(get("/api/agents", { method: "POST", body: "{}" })),
    read(get("/api/analytics/costs")),
  ]);
  expect(sent.every(({ path }) => !path.includes("batch"))).toBe(true);
  await Promise.all([read(get("/api/spans/alerts/summary")), read(get("/api/users/profile"))]);
  expect(sent.at(-1)?.paths).toEqual(["/api/spans/alerts/summary", "/api/users/profile"]);
});

test("more than twenty reads are several requests", async () => {
  await Promise.all(Array.from({ length: 45 }, (_, index) => read(get(`/api/agents/${index}`))));
  expect(sent.map(({ paths }) => paths.length)).toEqual([20, 20, 5]);
});

test("an error is that of its own read", async () => {
  answerBatch = ([, second]) =>
    new Response(envelope([`{"status":404,"body":{"error":{"code":"NOT_FOUND"}}}\n`, `${second}`]));
  const [missing, found] = await Promise.all([get("/api/agents/x"), get("/api/agents/y")]);
  expect([missing.status, found.status]).toEqual([404, 200]);
});

test("a refused batch is the answer to all", async () => {
  answerBatch = () => Response.json({ error: { code: "INTERNAL_ERROR" } }, { status: 503 });
  const found = await Promise.all([get("/api/agents"), get("/api/models")]);
  expect(found.map(({ status }) => status)).toEqual([503, 503]);
  expect(await found[1]?.json()).toEqual({ error: { code: "INTERNAL_ERROR" } });
});

test("what the service does not answer in a batch is asked alone", async () => {
  const refused = `{"status":400,"body":{"error":{"details":[{"field":"batch"}]}}}\n`;
  // The connection breaks after the second answer.
  answerBatch = ([first]) => new Response(envelope([`${first}`, refused]).slice(0, -2));
  const paths = ["/api/agents", "/api/models", "/api/views"];
  const [, ...alone] = await Promise.all(paths.map((path) => read(get(path))));
  expect(alone).toEqual(["/api/models", "/api/views"]);
});

test("an answer is there before those after it", async () => {
  const { readable, writable } = new TransformStream<Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  answerBatch = ([first]) => {
    void writer.write(encoder.encode(`{"success":true,"data":[\n${first}`));
    return new Response(readable);
  };
  const [early, late] = [get("/api/agents"), get("/api/models")];
  expect(await read(early)).toMatchObject({ path: "/api/agents" });
  void writer.close();
  expect(await read(late)).toBe("/api/models");
});

test("a read is cancelled alone, and the request when none is left", async () => {
  const pending = new Promise<Response>(() => {});
  let signal: AbortSignal | undefined;
  const hanging = inBatches((request) => {
    signal = request.signal;
    return pending;
  });
  const stops = [1, 2].map(() => new AbortController());
  const reads = stops.map((stop, index) =>
    hanging(new Request(`${location.origin}/api/agents/${index}`, { signal: stop.signal })),
  );
  await expect.poll(() => signal).toBeDefined();
  stops[0]?.abort("left");
  await expect(reads[0]).rejects.toBe("left");
  expect(signal?.aborted).toBe(false);
  stops[1]?.abort("left");
  await expect(reads[1]).rejects.toBe("left");
  expect(signal?.aborted).toBe(true);
});

test("reads of two workspaces are not mixed", async () => {
  workspace.enter("wsp_a");
  const first = ["/api/agents", "/api/models"].map((path) => read(get(path)));
  workspace.enter("wsp_b");
  const second = ["/api/agents", "/api/models"].map((path) => read(get(path)));
  await Promise.all([...first, ...second]);
  expect(sent.map(({ workspaceId }) => workspaceId)).toEqual(["wsp_a", "wsp_b"]);
  workspace.leave();
});
