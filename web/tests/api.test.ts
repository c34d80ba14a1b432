import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ApiError, fetchWithRetry, unwrap } from "@/lib/api";
import { useRateLimitWait } from "@/lib/rateLimit";
import { session } from "@/lib/session";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let answers: Answer[];
let seen: IncomingMessage[];

beforeEach(async () => {
  [answers, seen] = [[], []];
  server = createServer((request, response) => {
    seen.push(request);
    answers.shift()?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterEach(() => {
  localStorage.clear();
  server.close();
});

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/x`;
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(code, headers).end("{}");

test("rate limited requests are retried after the requested time", async () => {
  const { result: wait } = renderHook(useRateLimitWait);
  answers = [
    ...[1, 2].map(() => status(429, { "Retry-After": "1", "X-RateLimit-Limit": "100" })),
    ...[1, 2].map(() => status(200)),
  ];
  const started = Date.now();
  const requests = [1, 2].map(() => fetchWithRetry(new Request(address())));
  // The page says so meanwhile.
  await expect.poll(() => wait.current?.limit).toBe(100);
  const responses = await Promise.all(requests);
  expect(responses.map((response) => response.status)).toEqual([200, 200]);
  expect(seen).toHaveLength(4);
  expect(Date.now() - started).toBeGreaterThanOrEqual(990);
});

test("a wait of a quarter of an hour is reported instead", async () => {
  answers = [status(429, { "Retry-After": "900" })];
  expect((await fetchWithRetry(new Request(address()))).status).toBe(429);
  expect(seen).toHaveLength(1);
});

test("requests say that they are of the dashboard, and a 401 ends the session", async () => {
  session.start();
  answers = [status(401)];
  await fetchWithRetry(new Request(address()));
  expect(seen[0]?.headers["x-spanwise-dashboard"]).toBe("1");
  expect(session.id()).toBeNull();
});

test("a late 401 of an earlier sign-in does not end the current session", async () => {
  session.start();
  answers = [
    (_request, response) => {
      session.start();
      response.writeHead(401).end("{}");
    },
  ];
  await fetchWithRetry(new Request(address()));
  expect(session.id()).not.toBeNull();
});

test("a service that is down gives an error that says so", async () => {
  const gone = address();
  await new Promise((resolve) => server.close(resolve));
  const failed = await fetchWithRetry(new Request(gone)).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ApiError);
  expect(failed).toMatchObject({ status: 0 });
});

test("a response is unwrapped, and an error keeps its code and fields", async () => {
  const response = new Response(null, { status: 400 });
  expect(await unwrap(Promise.resolve({ data: { data: 3 }, response }))).toBe(3);
  const details = [{ field: "email", message: "is taken" }];
  const error = {
    success: false,
    error: { message: "email: is taken", code: "VALIDATION_ERROR", details },
  };
  const failed = await unwrap(Promise.resolve({ error, response })).catch((one: unknown) => one);
  expect(failed).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
  expect((failed as ApiError).message).toBe("Email: is taken");
  expect((failed as ApiError).about("email")).toBe("Is taken");
});
