/**
 * Sends the reads that a page starts at the same moment as one request, because the service allows
 * a person 100 requests a minute. Pages need not know: `api` in `api.ts` sends through here.
 */
import { afterTask } from "./idle";
import { workspace } from "./workspace";

type Send = (request: Request) => Promise<Response>;

interface Waiting {
  request: Request;
  workspaceId: string | null;
  resolve: (response: Response | Promise<Response>) => void;
  reject: (reason: unknown) => void;
}

const PATH = "/api/analytics/batch";
const MAX_REQUESTS = 20;
// Paths of other limits, and those that need no sign-in.
const SENT_ALONE =
  /^\/api\/(spans(?!\/alerts)|signals|logs|keys|admin|auth|invitations\/preview|health|version)(\/|$)/;
const POSTED_READS = /^\/api\/(analytics|metrics)\/query$/;
// The service writes each answer of a batch as one line.
const ANSWER = /^,?\{"status":(\d+),"body":(.*)\}$/s;

function isBatchable({ method, url }: Request): boolean {
  const { pathname } = new URL(url);
  if (method === "GET") return !SENT_ALONE.test(pathname);
  return method === "POST" && POSTED_READS.test(pathname);
}

/** A `fetch` that collects requests until the running task has ended. */
export function inBatches(send: Send): Send {
  let waiting: Waiting[] = [];
  const flush = () => {
    const all = waiting;
    waiting = [];
    for (let start = 0; start < all.length; start += MAX_REQUESTS) {
      void sendTogether(send, all.slice(start, start + MAX_REQUESTS));
    }
  };
  return (request) => {
    if (!isBatchable(request)) return send(request);
    const workspaceId = workspace.id();
    if (waiting[0] && waiting[0].workspaceId !== workspaceId) flush();
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) afterTask(flush);
      waiting.push({ request, workspaceId, resolve, reject });
    });
  };
}

async function sendTogether(send: Send, all: Waiting[]) {
  const unanswered = new Set(all);
  const stop = new AbortController();
  for (const one of all) {
    const { signal } = one.request;
    const onAbort = () => {
      one.reject(signal.reason);
      unanswered.delete(one);
      if (unanswered.size === 0) stop.abort();
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
  }
  const answer = (one: Waiting, response: Response | Promise<Response>) => {
    unanswered.delete(one);
    one.resolve(response);
  };
  const asked = [...unanswered];
  try {
    if (asked.length > 1) await readTogether(send, asked, stop.signal, answer);
  } catch (error) {
    for (const one of unanswered) one.reject(error);
    return;
  }
  // A single one, and those that the service did not answer or refused to answer in a batch.
  for (const one of unanswered) one.resolve(send(one.request));
}

async function readTogether(
  send: Send,
  asked: Waiting[],
  signal: AbortSignal,
  answer: (one: Waiting, response: Response) => void,
) {
  const headers = new Headers({ "Content-Type": "application/json" });
  const workspaceId = asked[0]?.workspaceId;
  if (workspaceId) headers.set("X-Workspace-Id", workspaceId);
  const requests = await Promise.all(asked.map(({ request }) => describe(request)));
  const body = JSON.stringify({ requests });
  const url = new URL(PATH, location.origin);
  const response = await send(new Request(url, { method: "POST", headers, body, signal }));
  if (!response.ok || !response.body) {
    const text = await response.text();
    for (const one of asked) answer(one, toResponse(response.status, text));
    return;
  }
  let index = 0;
  for await (const line of linesOf(response.body)) {
    const [, status, text] = ANSWER.exec(line) ?? [];
    if (!status || text === undefined) continue;
    const one = asked[index++];
    if (one && !isRefused(status, text)) answer(one, toResponse(Number(status), text));
  }
}

async function describe(request: Request) {
  const { pathname, searchParams } = new URL(request.url);
  if (request.method === "GET") return { path: pathname, query: Object.fromEntries(searchParams) };
  return { path: pathname, body: await request.clone().json() };
}

function isRefused(status: string, text: string): boolean {
  return status === "400" && text.includes('"field":"batch"');
}

function toResponse(status: number, text: string): Response {
  return new Response(text, { status, headers: { "Content-Type": "application/json" } });
}

/** The lines of a text as they arrive; of a broken connection, those before it broke. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
