// One call of the API: token, JSON, errors, and its repetition where that is harmless.

import { backOffMs, rest } from "./pause.js";
import { NetworkError, ProblemError, problemOf } from "./problem.js";

/** Of one call, its repetitions included, so that a person is told of a failure within some ten seconds. */
const ATTEMPTS = 4;
/** A little more than API Gateway lets a function take. */
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

/** Makes calls: answers 2xx and 304 are given back, everything else is a `ProblemError`, no answer a `NetworkError`. */
export type Send = (call: Call) => Promise<Response>;

/** Makes calls with this access. */
export function sender(access: Access): Send {
  return async (call) => {
    for (let failures = 0; ; failures++) {
      try {
        return await sendOnce(access, call);
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!call.repeatable || failures + 1 >= ATTEMPTS || !isPassing(error)) throw error;
        await rest(backOffMs(failures), call.signal);
      }
    }
  };
}

/** Whether a failure is likely to pass within seconds: no answer, or one of the gateway's own that has nothing to do with the request. */
export function isPassing(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return (
    error instanceof ProblemError && error.kind === "gateway" && (error.status === 429 || error.status >= 500)
  );
}

async function sendOnce(access: Access, call: Call): Promise<Response> {
  const token = await access.token?.();
  const headers = new Headers();
  if (token) headers.set("authorization", `Bearer ${token}`);
  if (call.body !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(call.headers ?? {}))
    if (value !== undefined) headers.set(name, value);
  const answer = await fetchOrFail(access.fetch ?? fetch, urlOf(access, call), {
    method: call.method,
    headers,
    cache: "no-store",
    signal: call.signal,
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  });
  if (answer.ok || answer.status === 304) return answer;
  throw await problemOf(answer);
}

/** `fetch` with its body, whose failures are told apart from an abort. */
export async function fetchOrFail(
  fetcher: typeof fetch,
  url: string,
  init: Omit<RequestInit, "signal"> & CallOptions,
  limitMs: number | null = ANSWER_LIMIT_MS,
): Promise<Response> {
  const signals = init.signal ? [init.signal] : [];
  if (limitMs !== null) signals.push(AbortSignal.timeout(limitMs));
  try {
    const answer = await fetcher(url, { ...init, signal: AbortSignal.any(signals) });
    const hasBody = answer.status !== 204 && answer.status !== 304;
    const { status, statusText, headers } = answer;
    return new Response(hasBody ? await answer.blob() : null, { status, statusText, headers });
  } catch (cause) {
    init.signal?.throwIfAborted();
    throw new NetworkError(`No answer from ${new URL(url, "http://page").host}`, { cause });
  }
}

function urlOf(access: Access, call: Call): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {}))
    if (value !== undefined) query.set(name, String(value));
  const search = query.toString();
  return access.baseUrl.replace(/\/$/, "") + call.path + (search && `?${search}`);
}
