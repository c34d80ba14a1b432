/**
 * The API as typed functions. Types come from the OpenAPI document; nothing is written twice.
 *
 *   const metrics = await unwrap(api.GET("/api/analytics/metrics", { params: { query } }));
 */
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.gen";
import { session } from "./session";

export type Schemas = components["schemas"];
export type Trace = Schemas["Trace"];
export type TraceWithSpans = Schemas["TraceWithSpans"];
export type Span = Schemas["Span"];
export type Session = Schemas["Session"];
export type Signal = Schemas["Signal"];
export type Log = Schemas["Log"];
export type Agent = Schemas["Agent"];
export type User = Schemas["User"];
export type Pagination = Schemas["Pagination"];
export type Granularity = Schemas["Granularity"];

/** What the service said went wrong; `status` 0 means that it did not answer at all. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code?: string,
    readonly details: { field: string; message: string }[] = [],
  ) {
    super(message);
  }
  /** The complaint about one field of a form. */
  about(field: string): string | undefined {
    return this.details.find((detail) => detail.field === field)?.message;
  }
}

const LONGEST_WAIT_SECONDS = 61;
const TRIES = 4;

function sleep(seconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** How old what a page shows may be: so much, and ingest never keeps it waiting. */
const ACCEPTED_AGE_SECONDS = 5;
const ONE_OF_MANY = /^\/api\/spans\/(traces|sessions)\/./;
let lastWrite = -Infinity;

/** Asks for an answer that may be a little old, unless it could miss what was just done or sent. */
function acceptAge(request: Request): void {
  const isRecentWrite = Date.now() - lastWrite < 2 * ACCEPTED_AGE_SECONDS * 1000;
  if (request.method !== "GET" || isRecentWrite) return;
  if (ONE_OF_MANY.test(new URL(request.url).pathname)) return;
  request.headers.set("Cache-Control", `max-age=${ACCEPTED_AGE_SECONDS}`);
}

/** Waits out a rate limit as long as the service asks, and signs out when the token has ended. */
export async function patientFetch(request: Request): Promise<Response> {
  const token = session.token();
  if (token && !request.headers.has("Authorization")) {
    request.headers.set("Authorization", `Bearer ${token}`);
  }
  acceptAge(request);
  for (let attempt = 1; ; attempt++) {
    let response: Response;
    try {
      response = await fetch(request.clone());
    } catch (error) {
      if (request.signal.aborted) throw error;
      throw new ApiError("The service does not answer. Is it running?", 0);
    }
    const wait = Number(response.headers.get("Retry-After") ?? 0);
    const mayWait = response.status === 429 && wait > 0 && wait <= LONGEST_WAIT_SECONDS;
    if (mayWait && attempt < TRIES) {
      await sleep(wait, request.signal);
      continue;
    }
    if (request.method !== "GET") lastWrite = Date.now();
    if (response.status === 401 && token && session.token() === token) session.end();
    return response;
  }
}

export const api = createClient<paths>({ baseUrl: location.origin, fetch: patientFetch });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

async function take<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked;
  if (data !== undefined) return data;
  const problem = (error as Schemas["Failure"] | undefined)?.error;
  const words = problem?.message ?? `The service answered ${response.status}.`;
  throw new ApiError(words, response.status, problem?.code, problem?.details ?? []);
}

/** The `data` of an answer, or an ApiError. */
export async function unwrap<T>(asked: Promise<Answer<{ data: T }>>): Promise<T> {
  return (await take(asked)).data;
}

/** One page of a list: `items` and `pagination`. */
export async function unwrapPage<T>(
  asked: Promise<Answer<{ data: T[]; pagination: Pagination }>>,
): Promise<{ items: T[]; pagination: Pagination }> {
  const { data, pagination } = await take(asked);
  return { items: data, pagination };
}

/** Downloads a file that needs the token, such as an export. */
export async function download(path: string): Promise<void> {
  const response = await patientFetch(new Request(new URL(path, location.origin)));
  if (!response.ok) throw new ApiError(`The export failed (${response.status}).`, response.status);
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name ?? "spanwise-export";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
