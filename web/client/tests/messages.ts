// Requests and replies of the test server.

import type { IncomingMessage } from "node:http";

export interface Request {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** Returns a problem document in the API's form. */
export function problem(status: number, kind: string, more: object = {}, retryAfter?: number): Reply {
  const headers: Record<string, string> = { "content-type": "application/problem+json" };
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  const body = {
    type: `/api/problems/${kind}`,
    title: kind,
    status,
    detail: `It is ${kind}.`,
    requestId: "r-1",
  };
  return { status, headers, body: { ...body, ...more } };
}

/** Returns a refusal in S3's form. */
export function refusal(status: number, code: string): Reply {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;
  return { status, headers: { "content-type": "application/xml" }, body };
}
