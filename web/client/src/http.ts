// One call of the API: token, JSON, errors, and its repetition where that is harmless.

import { NetworkError, ProblemError, problemFrom } from "./problem.js";
import { backOffMs, sleepUntilWoken } from "./sleep.js";
import { withTimeout } from "./timeout.js";

/** Of one call, its repetitions included: a failure that is told at once is passed on withTimeout some seconds. */
const ATTEMPTS = 4;
/** Of one call, its repetitions included: a person does not sleep longer, even where no response ever comes. */
const CALL_LIMIT_MS = 60_000;
/** Of one attempt, from its token to the last byte; a little more than API Gateway lets a function take. */
const ANSWER_LIMIT_MS = 35_000;

/**
 * Gives the token of a call, anew for each: a session that refreshes its token needs to do nothing else here. What it rejects
 * with ends the call; a `NetworkError` counts as a network that failed, and is waited out where that is.
 */
export type Token = () => string | null | undefined | Promise<string | null | undefined>;

/** Where the API is, and who calls it. */
export interface Access {
  /** Where `/api` is, for instance `https://abc.execute-api.eu-central-1.amazonaws.com`; `""` for the page's own origin. */
  readonly baseUrl: string;
  /** Left out where the deployment is open to anybody. */
  readonly token?: Token;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** What every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** One call, as it goes over the wire. */
export interface Call extends CallOptions {
  readonly method: "GET" | "POST" | "DELETE";
  /** With the leading `/api`. */
  readonly path: string;
  readonly query?: object;
  readonly headers?: Record<string, string | undefined>;
  /** Becomes JSON. */
  readonly body?: unknown;
  /** Twice does what once does, so that it is repeated when its reply is lost. */
  readonly repeatable: boolean;
}

/** Makes calls: answers 2xx and 304 are given back, everything else is a `ProblemError`, no response a `NetworkError`. */
export type Send = (call: Call) => Promise<Response>;

/** Makes calls with this access. */
export function sender(access: Access): Send {
  return (call) =>
    withTimeout(CALL_LIMIT_MS, call.signal, (signal) => sendWithRetry(access, { ...call, signal }));
}

/**
 * Whether it is worth asking again: no response or an unreadable one, too many calls, or a fault on the other side. Not where the
 * bytes of a day are used up: that takes hours.
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

/** Whether the API itself has not answered: nobody has, or its gateway. What the API says is for the caller to judge. */
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
 * `fetch` with its body, whose failures are told apart from an abort. An address that is none is the `TypeError` of `URL`: asking
 * again would never help.
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
  for (const [name, value] of Object.entries(call.query ?? {}))
    if (value !== undefined) query.set(name, String(value));
  const search = query.toString();
  return access.baseUrl.replace(/\/$/, "") + call.path + (search && `?${search}`);
}
