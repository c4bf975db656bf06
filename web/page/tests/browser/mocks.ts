/** Mocked job documents, for states that the stack does not stay in. */

import type { Page, Route } from "@playwright/test";
import type { Failure, Job } from "longshore-client";

const JOB = /\/api\/jobs\/[0-9a-f-]{36}$/;

/**
 * Reports every job as running, at 41 %, until the returned function is called. The route remains, because a request
 * that is sent while a route is removed may get no response.
 */
export async function holdJobRunning(page: Page): Promise<() => Promise<void>> {
  let isReleased = false;
  let underWay: Promise<void> = Promise.resolve();
  const handle = (route: Route) => {
    if (isReleased) return route.fallback();
    const before = underWay;
    underWay = answer(route).then(() => before);
    return underWay;
  };
  const answer = async (route: Route) => {
    const { "if-none-match": _, ...headers } = route.request().headers();
    const response = await route.fetch({ headers });
    if (route.request().method() !== "GET" || !response.ok()) return route.fulfill({ response });
    const job = (await response.json()) as Job;
    const done = Math.floor(job.itemCount * 0.41);
    const json = {
      ...job,
      status: "running",
      stage: "processing",
      percent: 41,
      itemProgress: done,
      counts: { succeeded: done, failed: 0, skipped: 0, pending: job.itemCount - done },
      itemsPerSecond: 100,
      etaSeconds: 600,
      finishedAt: null,
      links: {
        ...job.links,
        output: null,
        results: null,
        failures: null,
        start: null,
        undo: null,
        cancel: `${job.links.self}/cancel`,
      },
    };
    await route.fulfill({ status: 200, json, headers: { etag: '"held"', "retry-after": "1" } });
  };
  await page.route(JOB, handle);
  return async () => {
    isReleased = true;
    await underWay;
  };
}

/** Answers requests for the list of jobs. */
export async function mockJobList(
  page: Page,
  answer: (query: URLSearchParams) => object | number | Promise<object>,
) {
  await page.route(/\/api\/jobs(\?|$)/, async (route) => {
    const reply = await answer(new URL(route.request().url()).searchParams);
    if (typeof reply === "number") await route.fulfill({ status: reply, json: { message: "Made up" } });
    else await route.fulfill({ json: reply });
  });
}

/** Returns the document of a job that does not exist in the API. */
export function fakeJob(number: number, change: Partial<Job> = {}): Job {
  const jobId = `0198c0de-0000-7000-8000-${String(number).padStart(12, "0")}`;
  const at = "2026-07-01T09:00:00Z";
  return {
    jobId,
    traceId: jobId.replaceAll("-", ""),
    jobType: "import",
    fileName: `file-${number}.csv`,
    source: { kind: "file", name: "people.csv", sizeBytes: 1000 },
    priority: "normal",
    metadata: {},
    status: "completed",
    stage: "done",
    message: "Job complete",
    itemCount: 100,
    itemCountFinal: true,
    itemProgress: 100,
    counts: { succeeded: 100, failed: 0, skipped: 0, pending: 0 },
    percent: 100,
    itemsPerSecond: 100,
    etaSeconds: null,
    durationSeconds: 1,
    attempts: 1,
    cost: null,
    startedFrom: null,
    startedAs: null,
    undoes: null,
    undoneBy: null,
    error: null,
    issues: [],
    createdAt: at,
    startedAt: at,
    finishedAt: at,
    updatedAt: at,
    timeoutSeconds: 3600,
    deadlineAt: at,
    expiresAt: at,
    links: {
      self: `/api/jobs/${jobId}`,
      output: null,
      results: null,
      failures: null,
      cancel: null,
      start: null,
      undo: null,
    },
    ...change,
  };
}

/** Answers reads of one job. */
export async function mockJob(page: Page, job: Job): Promise<void> {
  await page.route(`**/api/jobs/${job.jobId}`, (route) =>
    route.fulfill({ json: job, headers: { "retry-after": "5" } }),
  );
}

/** Answers reads of the result of a job: the number of its results, and its failed items. */
export async function mockResult(
  page: Page,
  jobId: string,
  { results = null, failures }: { results?: number | null; failures: Failure[] },
): Promise<void> {
  const files = {
    results: results === null ? null : { url: "/made-up", rows: results },
    failed: null,
    skipped: null,
    unprocessed: null,
  };
  await page.route(`**/api/jobs/${jobId}/output`, (route) =>
    route.fulfill({ json: { files, receipt: null, issues: [] } }),
  );
  await page.route(`**/api/jobs/${jobId}/failures?*`, (route) =>
    route.fulfill({ json: { failures, nextCursor: null } }),
  );
}
