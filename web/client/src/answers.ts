// Responses as documents, and requests that may depend on a version.

import type { CallOptions } from "./http.js";
import type { ChangeOptions } from "./methods.js";

/** Sends a GET whose other options are its query, and parses the response as JSON. */
export type Getter = <T>(path: string, options?: CallOptions) => Promise<T>;

/** Parses a response as JSON. */
export async function json<T>(response: Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

/** Parses a response as JSON, and adds its `ETag`. */
export async function versioned<T>(response: Promise<Response>): Promise<T & { etag: string | null }> {
  const { headers } = await response;
  return { ...(await json<T>(response)), etag: headers.get("etag") };
}

/** Returns the header and the signal of a call that may depend on a version. */
export function conditional({ ifMatch, signal }: ChangeOptions) {
  return { headers: { "if-match": ifMatch ?? undefined }, signal };
}
