// One call of the API: token, JSON, errors, and retries where they are harmless.

import { NetworkError, ProblemError, problemFrom } from "./problem.js";
import { backOffMs, sleepUntilWoken } from "./sleep.js";
import { withTimeout } from "./timeout.js";

/** Attempts per call. A failure that is reported at once is passed on within some seconds. */
const ATTEMPTS = 4;
/** Time limit of a call with all its attempts, even if no answer ever arrives. */
const CALL_LIMIT_MS = 60_000;
/**
 * Time limit of one attempt, from its token to the last byte. Slightly above API Gateway's limit for a
 * function.
 */
const ANSWER_LIMIT_MS = 35_000;

/**
 * Returns the token for a call. Invoked before each attempt, so a session can refresh its token here. A
 * rejection ends the call; a `NetworkError` counts as a network failure, and is retried like one.
 */
export type Token = () => string | null | undefined | Promise<string | null | undefined>;

/** The API's address and the caller's token. */
export interface Access {
  /**
   * The origin of `/api`, for instance `https://abc.execute-api.eu-central-1.amazonaws.com`; `""` for the
   * page's own origin.
   */
  readonly baseUrl: string;
  /** Omitted if the deployment needs no sign-in. */
  readonly token?: Token;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** A request to the API. */
export interface Call extends CallOptions {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path, with the leading `/api`. */
  readonly path: string;
  /** The parameters. An object as a value is sent in the style `deepObject`: `name[key]=value`. */
  readonly query?: object;
  readonly headers?: Record<string, string | undefined>;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  /** Set if a second request has no further effect, so that a lost reply can be retried. */
  readonly repeatable: boolean;
}

/**
 * Makes calls. Resolves with 2xx and 304 responses; rejects with `ProblemError` for others, and with
 * `NetworkError` without one.
 */
export type Send = (call: Call) => Promise<Response>;

/** Creates a `Send` for this access. */
export function sender(access: Access): Send {
  return (call) =>
    withTimeout(CALL_LIMIT_MS, call.signal, (signal) => sendWithRetry(access, { ...call, signal }));
}

/**
 * Returns true if a retry may succeed: no response or an unreadable one, rate limiting, or a server error.
 * False for an exhausted daily upload quota, which resets only after hours.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof SyntaxError) return true;
  if (!(error instanceof ProblemError) || error.kind === "upload-quota-exceeded") return false;
  return error.status === 429 || error.status >= 500;
}

async function sendWithRetry(access: Access, call: Call): Promise<Response> {
  for (let failures = 0; ; failures++) {
    try {
      return await withTimeout(ANSWER_LIMIT_MS, call.signal, (signal) =>
        sendOnce(access, { ...call, signal }),
      );
    } catch (error) {
      call.signal?.throwIfAborted();
      if (!call.repeatable || failures + 1 >= ATTEMPTS || !isUnanswered(error)) throw error;
      await sleepUntilWoken(backOffMs(failures), call.signal);
    }
  }
}

/**
 * Returns true if the API itself has not answered: there is no response, or only the gateway's. Callers judge
 * the API's own errors.
 */
function isUnanswered(error: unknown): boolean {
  if (error instanceof ProblemError) return error.kind === "gateway" && isTransient(error);
  return error instanceof NetworkError;
}

async function sendOnce(access: Access, call: Call): Promise<Response> {
  const token = await access.token?.();
  const headers = new Headers();
  if (token) headers.set("authorization", `Bearer ${token}`);
  if (call.body !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(call.headers ?? {}))
    if (value !== undefined) headers.set(name, value);
  const { response, body } = await fetchWithBody(access.fetch, urlOf(access, call), {
    method: call.method,
    headers,
    signal: call.signal,
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  });
  const hasBody = response.status !== 204 && response.status !== 304;
  if (response.ok || response.status === 304) return new Response(hasBody ? body : null, response);
  throw problemFrom(response, await body.text());
}

/**
 * Fetches a response with its body. Distinguishes network failures from an abort. An invalid URL throws
 * `TypeError` at once, since no retry would help.
 */
export async function fetchWithBody(
  fetcher = fetch,
  url: string,
  { signal, ...init }: Omit<RequestInit, "signal"> & CallOptions,
): Promise<{ readonly response: Response; readonly body: Blob }> {
  const { href, host } = new URL(url, typeof location === "undefined" ? undefined : location.href);
  try {
    const response = await fetcher(href, { ...init, cache: "no-store", signal: signal ?? null });
    return { response, body: await response.blob() };
  } catch (cause) {
    signal?.throwIfAborted();
    throw new NetworkError(`No answer from ${host}`, { cause });
  }
}

function urlOf(access: Access, call: Call): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === undefined) continue;
    if (typeof value !== "object") query.set(name, String(value));
    else
      for (const [key, member] of Object.entries(value ?? {})) query.set(`${name}[${key}]`, String(member));
  }
  const search = query.toString();
  return access.baseUrl.replace(/\/$/, "") + call.path + (search && `?${search}`);
}
