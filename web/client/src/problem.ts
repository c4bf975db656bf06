// Errors: refusals by the API, and failures to reach it.

import type { FieldError, Problem } from "./documents.js";

/**
 * The API's problem kinds: the last part of a problem's `type`. Each has a page at `/api/problems/{kind}`.
 */
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
  "job-undone",
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
  "not-undoable",
  "not-validated",
  "nothing-to-replay",
  "nothing-to-retry",
  "nothing-to-start",
  "precondition-failed",
  "rate-limited",
  "schedule-not-runnable",
  "too-many-job-types",
  "too-many-jobs",
  "too-many-pauses",
  "too-many-schedules",
  "too-many-webhooks",
  "unavailable",
  "undo-active",
  "undo-too-early",
  "unsupported-media-type",
  "upload-abandoned",
  "upload-incomplete",
  "upload-quota-exceeded",
  "uri-too-long",
  "webhook-disabled",
  "webhook-pending",
] as const;

/**
 * A problem kind of the API, or `gateway` for a response that is not a problem document: one of the gateway
 * or of a proxy.
 */
export type ProblemKind = (typeof PROBLEM_KINDS)[number] | "gateway";

/** A refusal by the API or its gateway. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  /** Stable, for comparison. A newer deployment may return a kind that this type does not list. */
  readonly kind: ProblemKind;
  readonly status: number;
  /** The same for every problem of the kind. */
  readonly title: string;
  /** A description of this occurrence and its solution, for people. */
  readonly detail: string;
  /** The invalid fields, each with a JSON pointer into the body. */
  readonly errors: readonly FieldError[];
  /** Identifies the request in the deployment's logs. */
  readonly requestId: string | null;
  /** Seconds until a retry is useful, if the response says so. */
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

/** No answer: the network failed, or the answer took too long. `cause` has the reason. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
}

/**
 * Creates an error from an unexpected response. A body that is not a problem document counts as the
 * gateway's.
 */
export function problemFrom(response: Response, text: string): ProblemError {
  return new ProblemError(response.status, parseProblem(response, text), retryAfterSeconds(response));
}

/** Returns true if the error is a problem of this kind. */
export function isKind(error: unknown, kind: ProblemKind): error is ProblemError {
  return error instanceof ProblemError && error.kind === kind;
}

/** Parses `Retry-After` in seconds. Longshore never sends the form with a date. */
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
