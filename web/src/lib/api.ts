/**
 * The typed API client. Types are generated from the OpenAPI document.
 *
 *   const metrics = await unwrap(api.GET("/api/analytics/metrics", { params: { query } }));
 */
import createClient from "openapi-fetch";
import { inBatches } from "./batch";
import { saveFile } from "./files";
import { capitalize } from "./format";
import { announceWait } from "./rateLimit";
import type { components, paths } from "./schema.gen";
import { session } from "./session";
import { workspace } from "./workspace";

export type Schemas = components["schemas"];
export type Trace = Schemas["Trace"];
export type TraceWithSpans = Schemas["TraceWithSpans"];
export type Span = Schemas["Span"];
export type Session = Schemas["Session"];
export type Signal = Schemas["Signal"];
export type Log = Schemas["Log"];
export type Agent = Schemas["Agent"];
export type User = Schemas["User"];
export type Workspace = Schemas["Workspace"];
export type Member = Schemas["Member"];
export type Pagination = Schemas["Pagination"];
export type Granularity = Schemas["Granularity"];

/** An error response; `status` 0 means that there was no response. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code?: string,
    readonly details: { field: string; message: string }[] = [],
  ) {
    super(message);
  }
  /** The error message of one form field. */
  about(field: string): string | undefined {
    const found = this.details.find((detail) => detail.field === field);
    return found && capitalize(found.message);
  }
}

const MAX_WAIT_SECONDS = 61;
const MAX_ATTEMPTS = 4;

function sleep(seconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Retries after a rate limit as the service asks, and signs out when the cookie is invalid. */
export async function fetchWithRetry(request: Request): Promise<Response> {
  const signIn = session.id();
  // The cookie counts only with this header, which pages of other origins cannot send.
  request.headers.set("X-Spanwise-Dashboard", "1");
  const workspaceId = workspace.id();
  if (signIn && workspaceId && !request.headers.has("X-Workspace-Id"))
    request.headers.set("X-Workspace-Id", workspaceId);
  for (let attempt = 1; ; attempt++) {
    let response: Response;
    try {
      response = await fetch(request.clone());
    } catch (error) {
      if (request.signal.aborted) throw error;
      throw new ApiError("The service is not responding.", 0);
    }
    const wait = Number(response.headers.get("Retry-After") ?? 0);
    const mayWait = response.status === 429 && wait > 0 && wait <= MAX_WAIT_SECONDS;
    if (mayWait && attempt < MAX_ATTEMPTS) {
      announceWait(Number(response.headers.get("X-RateLimit-Limit")), wait);
      await sleep(wait, request.signal);
      continue;
    }
    if (response.status === 401 && signIn && session.id() === signIn) session.end();
    return response;
  }
}

export const api = createClient<paths>({
  baseUrl: location.origin,
  fetch: inBatches(fetchWithRetry),
});

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

async function take<T>(pending: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await pending;
  if (data !== undefined) return data;
  const problem = (error as Schemas["Failure"] | undefined)?.error;
  const words = problem?.message ?? `The service responded with status ${response.status}.`;
  const details = problem?.details ?? undefined;
  throw new ApiError(capitalize(words), response.status, problem?.code, details);
}

/** Returns the `data` of a response, or throws an ApiError. */
export async function unwrap<T>(pending: Promise<Answer<{ data: T }>>): Promise<T> {
  return (await take(pending)).data;
}

/** One page of a list: `items` and `pagination`. */
export async function unwrapPage<T>(
  pending: Promise<Answer<{ data: T[]; pagination: Pagination }>>,
): Promise<{ items: T[]; pagination: Pagination }> {
  const { data, pagination } = await take(pending);
  return { items: data, pagination };
}

/** Downloads a file, such as an export. */
export async function download(path: string): Promise<void> {
  const response = await fetchWithRetry(new Request(new URL(path, location.origin)));
  if (!response.ok) throw new ApiError(`The export failed (${response.status}).`, response.status);
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  saveFile(await response.blob(), name ?? "spanwise-export");
}
