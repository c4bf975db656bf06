// Requests and replies of the test server, job documents in the API's form, and rejections of calls.

import type { IncomingMessage } from "node:http";
import type { Job, ProblemError } from "../src/index.js";

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

export const JOB_ID = "01980000-0000-7000-8000-000000000001";
export const JOB_CALL = `GET /api/jobs/${JOB_ID}`;

/** Returns a running job of a hundred items, `percent` of them done. */
export function jobAt(percent: number, more: Partial<Job> = {}): Job {
  const at = new Date(Date.UTC(2026, 0, 1) + percent * 1000).toISOString();
  return {
    jobId: JOB_ID,
    traceId: JOB_ID.replaceAll("-", ""),
    jobType: "import",
    fileName: "people.csv",
    source: { kind: "file", name: "people.csv", sizeBytes: 1000 },
    priority: "normal",
    metadata: {},
    status: "running",
    stage: "processing",
    message: `Job running, ${percent}% complete...`,
    itemCount: 100,
    itemCountFinal: true,
    itemProgress: percent,
    counts: { succeeded: percent, failed: 0, skipped: 0, pending: 100 - percent },
    percent,
    itemsPerSecond: 1,
    etaSeconds: 100 - percent,
    durationSeconds: percent,
    attempts: 1,
    cost: null,
    startedFrom: null,
    startedAs: null,
    undoes: null,
    undoneBy: null,
    error: null,
    issues: [],
    createdAt: "2026-01-01T00:00:00Z",
    startedAt: "2026-01-01T00:00:00Z",
    finishedAt: null,
    updatedAt: at,
    timeoutSeconds: 3600,
    deadlineAt: "2026-01-01T01:00:00Z",
    expiresAt: "2026-01-15T00:00:00Z",
    links: {
      self: `/api/jobs/${JOB_ID}`,
      output: null,
      results: null,
      failures: null,
      cancel: null,
      start: null,
      undo: null,
    },
    ...more,
  };
}

export function completed(more: Partial<Job> = {}): Job {
  return jobAt(100, { status: "completed", stage: "done", message: "Job complete", ...more });
}

/** Returns an answer to `getJob` with an `ETag`, and with `Retry-After` unless the job has ended. */
export function state(job: Job, retryAfter = 1): Reply {
  const headers: Record<string, string> = { etag: etagOf(job) };
  if (job.status === "running" || job.status === "waiting") headers["retry-after"] = String(retryAfter);
  return { status: 200, headers, body: job };
}

/** Returns the 304 answer to a `getJob` with the current `ETag`. */
export function unchanged(job: Job, retryAfter = 1): Reply {
  return { status: 304, headers: { etag: etagOf(job), "retry-after": String(retryAfter) } };
}

export function etagOf(job: Job): string {
  return `"${job.attempts}-${job.status}-${job.percent}"`;
}

/** Calls, a request and its answer that many tests share. */
export const CREATE = "POST /api/jobs";
export const CANCEL = `POST /api/jobs/${JOB_ID}/cancel`;
export const accepted: Reply = { status: 202, body: jobAt(0) };
export const request = { jobType: "import", fileGuid: "f", options: { dataset: "people", key: "email" } };

/** Returns the rejection of a call. */
export function rejection(call: Promise<unknown>): Promise<ProblemError> {
  return call.then(
    () => Promise.reject(new Error("The call was not rejected")),
    (error) => error,
  );
}
