/** Mocked answers to calls of operators, for states that the stack does not stay in. */

import type { Page, Route } from "@playwright/test";
import type {
  DeadLetter,
  FailureGroups,
  OperatorHandler,
  OperatorJob,
  OperatorLogEntry,
  OperatorQueue,
  OperatorWebhook,
  Pause,
} from "longshore-client";

/** The user of the stack that is an operator. */
export const OPERATOR = "operator";

/** The time at which the failures were read. */
export const AS_OF = "2026-07-01T09:40:00Z";

const AT = "2026-07-01T09:00:00.12Z";

/** Returns the row of a table with this text. */
export const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** Returns an id of a job. */
export const jobId = (number: number) => `0198c0de-0000-7000-8000-${String(number).padStart(12, "0")}`;

/** Returns a job of a tenant. */
export function fakeOperatorJob(number: number, change: Partial<OperatorJob> = {}): OperatorJob {
  return {
    jobId: jobId(number),
    traceId: jobId(number).replaceAll("-", ""),
    tenant: "acme",
    jobType: "invite",
    priority: "normal",
    status: "completed",
    stage: "done",
    itemCount: 1_204,
    itemCountFinal: true,
    counts: { succeeded: 1_204, failed: 0, skipped: 0 },
    attempts: 1,
    waitingFor: null,
    errorCode: null,
    createdAt: AT,
    startedAt: AT,
    finishedAt: AT,
    updatedAt: AT,
    deadlineAt: AT,
    ...change,
  };
}

/** Returns the only page of failures: a group of two jobs for each code. */
export function fakeGroups(...codes: string[]): FailureGroups {
  const group = (code: string, at: number) => ({
    type: "invite",
    code,
    items: 1_204,
    jobs: 2,
    firstSeen: AT,
    lastSeen: AT,
    jobIds: [jobId(at + 1), jobId(at + 2)],
  });
  const groups = codes.map(group);
  return { groups, groupsLeftOut: 0, jobsRead: 2, uncounted: 3, asOf: AS_OF, nextCursor: null };
}

/** Returns a queue. */
export function fakeQueue(
  queue: OperatorQueue["queue"],
  visible: number,
  change: Partial<OperatorQueue> = {},
): OperatorQueue {
  const isForDeadLetters = queue.endsWith("DeadLetters");
  return { queue, isForDeadLetters, visible, inFlight: 0, delayed: 0, oldestSeconds: null, ...change };
}

/** Returns a handler with a closed circuit breaker. */
export function fakeHandler(name: string, change: Partial<OperatorHandler> = {}): OperatorHandler {
  return {
    name,
    status: "active",
    breaker: { state: "closed", openSince: null, nextTry: null, unansweredSince: null },
    permitsInUse: 3,
    concurrency: 10,
    concurrencyNow: 10,
    itemsPerSecond: null,
    parkedChunks: 0,
    hasMoreParkedChunks: false,
    ...change,
  };
}

/** Returns the open dead letter of a chunk. */
export function fakeDeadLetter(number: number, change: Partial<DeadLetter> = {}): DeadLetter {
  const letterId = `178289640012${number}-8f1d2c3b`;
  const self = `/api/dead-letters/${letterId}`;
  return {
    letterId,
    queue: "chunk",
    kind: "chunk",
    reason: "every worker that processed the chunk crashed or failed",
    jobId: jobId(number),
    tenant: "acme",
    jobStatus: "completed",
    generation: null,
    group: 2,
    chunk: 5,
    firstItem: 12_001,
    itemCount: 1_000,
    sentAt: AT,
    seenAt: AT,
    receives: 10,
    sizeBytes: 412,
    state: "open",
    settledBy: null,
    settledAt: null,
    replay: "generation",
    links: { self, replay: `${self}/replay` },
    ...change,
  };
}

/** Returns a healthy webhook. */
export function fakeWebhook(host: string, change: Partial<OperatorWebhook> = {}): OperatorWebhook {
  return {
    webhookId: `we_${host}`,
    host,
    status: "active",
    disabledReason: null,
    disabledAt: null,
    failures: 0,
    failingSince: null,
    pausedUntil: null,
    createdAt: AT,
    ...change,
  };
}

/** Returns a pause of a job type. */
export function fakePause(type: string, change: Partial<Pause> = {}): Pause {
  const until = "2026-07-02T09:00:00Z";
  return { pauseId: jobId(9), type, tenant: null, since: AT, until, by: "3f1b6c2e", ...change };
}

/** Returns an entry of the log. */
export function fakeEntry(number: number, change: Partial<OperatorLogEntry> = {}): OperatorLogEntry {
  return {
    entryId: `00178289640012${number}-8f1d2c3b`,
    at: AT,
    operator: "3f1b6c2e",
    operatorName: "olga@example.com",
    action: "retryFailures",
    scope: { jobType: "invite", code: "handler_unavailable", jobIds: [jobId(1), jobId(2)] },
    reason: "The mail server is back.",
    result: { at: AT, status: 200, detail: "2 of 2 jobs started", started: [jobId(1), jobId(2)] },
    ...change,
  };
}

/** An answer: a document, or the status of a problem. */
type Answer = object | number;

/** Answers the reads of one list, and returns their queries. */
export async function mockList(
  page: Page,
  path: string,
  answer: (query: URLSearchParams) => Answer,
): Promise<URLSearchParams[]> {
  const queries: URLSearchParams[] = [];
  await page.route(
    (url) => url.pathname === path,
    (route) => {
      if (route.request().method() !== "GET") return route.fallback();
      const query = new URL(route.request().url()).searchParams;
      queries.push(query);
      return fulfill(route, answer(query));
    },
  );
  return queries;
}

/** A change that the page has requested. */
export interface Change {
  path: string;
  reason: string | null;
  body: Record<string, unknown> | null;
}

/** Answers changes, and returns them. */
export async function mockChanges(page: Page, answer: (change: Change) => Answer): Promise<Change[]> {
  const changes: Change[] = [];
  await page.route(
    (url) => /^\/api\/(operations|dead-letters)/.test(url.pathname),
    (route) => {
      const request = route.request();
      if (request.method() === "GET") return route.fallback();
      const { pathname: path, searchParams } = new URL(request.url());
      const change = { path, reason: searchParams.get("reason"), body: request.postDataJSON() };
      changes.push(change);
      return request.method() === "DELETE" ? route.fulfill({ status: 204 }) : fulfill(route, answer(change));
    },
  );
  return changes;
}

function fulfill(route: Route, answer: Answer): Promise<void> {
  if (typeof answer !== "number") return route.fulfill({ json: answer });
  return route.fulfill({ status: answer, json: { message: "Made up" } });
}

/** Makes operators of the stack read-only ones in the eyes of the page. */
export async function makeReadOnly(page: Page): Promise<void> {
  await page.route("**/config.json", async (route) => {
    const response = await route.fetch();
    const config = await response.json();
    const { operators } = config.signIn;
    config.signIn.operators = { ...operators, group: "nobody", readOnlyGroup: operators.group };
    await route.fulfill({ response, json: config });
  });
}
