/** The operators' view: roles of tokens, filters in the address, groups of failures, and delays between reads. */

import type { FailureGroup, FailureGroups, OperatorJob, Retries, RetriesRequest } from "longshore-client";
import { expect, test } from "vitest";
import {
  deadLettersOptions,
  failuresOf,
  failuresOptions,
  jobsOptions,
  linkTo,
  queryOf,
  readFilters,
} from "../../src/operations/filters";
import { addUp, retryGroup } from "../../src/operations/groups";
import { roleOf } from "../../src/operator";
import { pollDelayMs } from "../../src/polling";
import { text } from "../../src/text";

const RULE = { claim: "cognito:groups", group: "operators", readOnlyGroup: "auditors" };

const token = (claims: unknown) =>
  ["e30", Buffer.from(JSON.stringify(claims)).toString("base64url"), "signature"].join(".");

test.each([
  [{ "cognito:groups": ["operators"] }, "operator"],
  [{ "cognito:groups": ["auditors", "operators"] }, "operator"],
  [{ "cognito:groups": ["auditors"] }, "read-only"],
  [{ "cognito:groups": "a auditors" }, "read-only"],
  [{ "cognito:groups": ["operators2"] }, null],
  [{ "cognito:groups": 7 }, null],
  [{ scope: "operators" }, null],
  [{ name: "Zoë", "cognito:groups": ["operators"] }, "operator"],
  [null, null],
])("the role of %j is %s", (claims, role) => {
  expect(roleOf(token(claims), RULE)).toBe(role);
});

test("nobody is an operator without a token, a readable one, or a rule", () => {
  expect(roleOf(undefined, RULE)).toBeNull();
  expect(roleOf("opaque", RULE)).toBeNull();
  expect(roleOf(token({ "cognito:groups": ["operators"] }), undefined)).toBeNull();
  expect(roleOf(token({ "cognito:groups": ["auditors"] }), { ...RULE, readOnlyGroup: null })).toBeNull();
});

test("filters are read from the address, without empty and unknown ones", () => {
  const search = "?status=failed&type=+invite+&tenant=&age=1y&order=newest&other=x&queue=chunk";
  expect(readFilters(search)).toEqual({ status: "failed", type: "invite", queue: "chunk" });
  expect(readFilters("?status=lost")).toEqual({});
});

test("filters return from the address as they were written into it", () => {
  const filters = { status: "running", type: "a b", tenant: "acme&co", age: "24h", order: "oldest" } as const;
  expect(readFilters(`?${queryOf(filters)}`)).toEqual(filters);
  expect(linkTo("jobs", { tenant: "acme&co" })).toBe("/operations/jobs?tenant=acme%26co");
  expect(linkTo("log")).toBe("/operations/log");
});

const NOW = Date.parse("2026-07-01T09:00:00Z");

test("an age becomes the time from which jobs are listed", () => {
  expect(jobsOptions({ age: "1h", status: "failed" }, NOW)).toEqual({
    status: "failed",
    createdAfter: "2026-07-01T08:00:00.000Z",
  });
  expect(failuresOptions({ age: "7d", code: "timeout", status: "failed" }, NOW)).toEqual({
    code: "timeout",
    createdAfter: "2026-06-24T09:00:00.000Z",
  });
  expect(deadLettersOptions({ queue: "chunk", age: "1h" })).toEqual({ queue: "chunk" });
});

test("the failures of one job are those of its tenant and type at its time", () => {
  const job = { tenant: "acme", jobType: "invite", createdAt: "2026-07-01T08:59:59.999Z" } as OperatorJob;
  expect(failuresOf(job)).toEqual({
    tenant: "acme",
    type: "invite",
    createdAfter: "2026-07-01T08:59:59.999Z",
    createdBefore: "2026-07-01T09:00:00.000Z",
  });
  // A time in the address is more precise than an age.
  expect(failuresOptions({ ...failuresOf(job), age: "1h" }, NOW).createdAfter).toBe(job.createdAt);
});

const group = (code: string, items: number, jobIds: string[], seen = "2026-07-01T08:00:00Z") => ({
  type: "invite",
  code,
  items,
  jobs: jobIds.length,
  firstSeen: seen,
  lastSeen: seen,
  jobIds,
});

const page = (groups: FailureGroup[], asOf: string, more: Partial<FailureGroups> = {}): FailureGroups => ({
  groups,
  groupsLeftOut: 0,
  jobsRead: 2,
  uncounted: 1,
  asOf,
  nextCursor: null,
  ...more,
});

test("groups of several pages are added up, and the time is that of the first read", () => {
  const pages = [
    page([group("a", 3, ["1"]), group("b", 2, ["1"])], "2026-07-01T09:00:00Z"),
    page([group("b", 5, ["2", "3"], "2026-07-01T07:00:00.5Z")], "2026-07-01T09:00:01Z", { groupsLeftOut: 4 }),
  ];
  expect(addUp(pages)).toEqual({
    groups: [
      {
        ...group("b", 7, ["1", "2", "3"]),
        firstSeen: "2026-07-01T07:00:00.5Z",
        lastSeen: "2026-07-01T08:00:00Z",
      },
      group("a", 3, ["1"]),
    ],
    jobsRead: 4,
    uncounted: 2,
    leftOut: 4,
    asOf: "2026-07-01T09:00:00Z",
  });
  expect(addUp([])).toEqual({ groups: [], jobsRead: 0, uncounted: 0, leftOut: 0, asOf: undefined });
});

/** Answers each job as started, and fails from the call with this number on. */
function retries(failsFrom = Number.POSITIVE_INFINITY) {
  const requests: RetriesRequest[] = [];
  const retry = async (request: RetriesRequest): Promise<Retries> => {
    requests.push(request);
    if (requests.length >= failsFrom) throw new Error("made up");
    const of = (jobId: string) =>
      ({ jobId, outcome: "started", attempts: 2, problem: null, detail: null }) as const;
    return { jobs: request.jobIds.map(of) };
  };
  return { requests, retry };
}

const IDS = Array.from({ length: 250 }, (_, at) => `job-${at}`);

test("a group is retried in parts of a hundred jobs, with its time and the reason", async () => {
  const { requests, retry } = retries();
  const result = await retryGroup(group("a", 900, IDS), "2026-07-01T09:00:00Z", "fixed", retry);
  expect(result.error).toBeNull();
  expect(result.jobs.map(({ jobId }) => jobId)).toEqual(IDS);
  expect(requests.map(({ jobIds }) => jobIds.length)).toEqual([100, 100, 50]);
  expect(requests[2]).toEqual({
    type: "invite",
    code: "a",
    jobIds: IDS.slice(200),
    reason: "fixed",
    asOf: "2026-07-01T09:00:00Z",
  });
});

test("a retry that is interrupted says which jobs have started", async () => {
  const { requests, retry } = retries(2);
  const result = await retryGroup(group("a", 900, IDS), undefined, "fixed", retry);
  expect(result.error).toEqual(new Error("made up"));
  expect(result.jobs).toHaveLength(100);
  expect(requests).toHaveLength(2);
});

test.each([
  [10_000, 0, 10_000],
  [10_000, 1, 20_000],
  [10_000, 3, 80_000],
  [10_000, 9, 120_000],
  [300_000, 5, 300_000],
])("a read every %i ms waits after %i failures for %i ms", (everyMs, failures, delay) => {
  expect(pollDelayMs(everyMs, failures)).toBe(delay);
});

test("a retry names the exact numbers, and a part of the view has a title of its own", () => {
  expect(text.operations.failures.confirmTitle(1_204, 1)).toBe("Retry 1,204 items of 1 job?");
  expect(text.operations.titleOf("dead-letters")).toBe("Dead letters - Operations");
});

test("a pause that was not made names the one in force, and its operator", () => {
  expect(text.operations.pauses.pausedBefore("1 July, 12:00", "olga")).toContain(
    "olga has paused it until 1 July",
  );
});
