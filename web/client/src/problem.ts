// Errors: what the API refused, and what never reached it.

import type { FieldError, Problem } from "./documents.js";

/** The problems that the API names: the last part of their `type`. Each has a page at `/api/problems/{kind}`. */
export const PROBLEM_KINDS = [
  "already-uploaded",
  "body-too-large",
  "busy",
  "file-gone",
  "headers-too-large",
  "idempotency-key-reused",
  "internal",
  "invalid-idempotency-key",
  "invalid-request",
  "job-deleted",
  "job-ended",
  "letter-settled",
  "malformed-json",
  "malformed-query",
  "method-not-allowed",
  "no-report",
  "no-tenant",
  "not-an-operator",
  "not-ended",
  "not-finished",
  "not-found",
  "not-validated",
  "nothing-to-replay",
  "nothing-to-retry",
  "nothing-to-start",
  "precondition-failed",
  "rate-limited",
  "too-many-jobs",
  "unavailable",
  "unsupported-media-type",
  "upload-abandoned",
  "upload-incomplete",
  "upload-quota-exceeded",
  "uri-too-long",
] as const;

/** A problem that the API names, or `gateway` for an response that is no problem document: the gateway's own, or a proxy's. */
export type ProblemKind = (typeof PROBLEM_KINDS)[number] | "gateway";

/** The API (or its gateway) answered, and refused. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  /** Stable, to be compared. A deployment that is newer than this package may response a kind that is not in the type. */
  readonly kind: ProblemKind;
  readonly status: number;
  /** The same for every problem of the kind. */
  readonly title: string;
  /** What is wrong this time, and the way out; for people. */
  readonly detail: string;
  /** The bad fields, each with a JSON pointer into the body. */
  readonly errors: readonly FieldError[];
  /** Names the request in the deployment's logs. */
  readonly requestId: string | null;
  /** Seconds after which it is worth asking again, if the response says so. */
  readonly retryAfter: number | null;

  constructor(status: number, problem: Partial<Problem>, retryAfter: number | null) {
    super(problem.detail ?? problem.title ?? `HTTP ${status}`);
    this.kind = (problem.type?.split("/").pop() as ProblemKind | undefined) ?? "gateway";
    this.status = status;
    this.title = problem.title ?? `HTTP ${status}`;
    this.detail = problem.detail ?? this.title;
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId ?? null;
    this.retryAfter = retryAfter;
  }
}

/** No response came: the network failed, or the response took too long. `cause` has the reason. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
}

/** Makes an error of an response that is none of the expected ones. A body that is no problem document is read as the gateway's. */
export function problemFrom(response: Response, text: string): ProblemError {
  return new ProblemError(response.status, parseProblem(response, text), retryAfterSeconds(response));
}

/** Whether the API refused by this problem. */
export function isKind(error: unknown, kind: ProblemKind): error is ProblemError {
  return error instanceof ProblemError && error.kind === kind;
}

/** `Retry-After` in seconds. Longshore never answers the form with a date. */
export function retryAfterSeconds(response: Response): number | null {
  const header = response.headers.get("retry-after");
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}

function parseProblem(response: Response, text: string): Partial<Problem> {
  try {
    const body = JSON.parse(text);
    if (typeof body !== "object" || body === null) return {};
    if (response.headers.get("content-type")?.startsWith("application/problem+json")) return body as Problem;
    return typeof body.message === "string" ? { title: body.message } : {};
  } catch {
    return {};
  }
}
