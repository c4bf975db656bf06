/** Groups of failures: those of several pages added up, and the retry of exactly one of them. */

import type { FailureGroup, FailureGroups, JobRetry, Retries, RetriesRequest } from "longshore-client";

/** Maximum number of jobs of one call. */
const JOBS = 100;

/** The failures of all pages that were read. */
export interface Failures {
  /** Groups, those with the most items first. */
  groups: FailureGroup[];
  /** Reports that were read. */
  jobsRead: number;
  /** Failed items that no group counts. */
  uncounted: number;
  /** Groups beyond the maximum of a page. */
  leftOut: number;
  /** The time of the first read: a job that has ended later is not retried. */
  asOf: string | undefined;
}

/** Adds up the groups of all pages. */
export function addUp(pages: readonly FailureGroups[]): Failures {
  const groups = new Map<string, FailureGroup>();
  for (const group of pages.flatMap((page) => page.groups)) {
    const key = JSON.stringify([group.type, group.code]);
    const before = groups.get(key);
    groups.set(key, before ? joined(before, group) : group);
  }
  const sum = (of: (page: FailureGroups) => number) => pages.reduce((sum, page) => sum + of(page), 0);
  return {
    groups: [...groups.values()].sort((a, b) => b.items - a.items),
    jobsRead: sum(({ jobsRead }) => jobsRead),
    uncounted: sum(({ uncounted }) => uncounted),
    leftOut: sum(({ groupsLeftOut }) => groupsLeftOut),
    asOf: earliest(pages.map(({ asOf }) => asOf)),
  };
}

function joined(a: FailureGroup, b: FailureGroup): FailureGroup {
  const jobIds = [...new Set([...a.jobIds, ...b.jobIds])];
  return {
    ...a,
    items: a.items + b.items,
    jobs: a.jobs + b.jobs,
    firstSeen: earliest([a.firstSeen, b.firstSeen]) ?? a.firstSeen,
    lastSeen: Date.parse(a.lastSeen) < Date.parse(b.lastSeen) ? b.lastSeen : a.lastSeen,
    jobIds,
  };
}

function earliest(times: readonly string[]): string | undefined {
  return times.reduce<string | undefined>(
    (first, time) => (first === undefined || Date.parse(time) < Date.parse(first) ? time : first),
    undefined,
  );
}

/** The outcome of a retry of a group: the jobs that were answered, and the error that ended it early. */
export interface GroupRetry {
  jobs: JobRetry[];
  error: unknown;
}

/** Retries a group, in parts. An error ends it: the parts before it are started, and a repetition is harmless. */
export async function retryGroup(
  { type, code, jobIds }: FailureGroup,
  asOf: string | undefined,
  reason: string,
  retry: (request: RetriesRequest) => Promise<Retries>,
): Promise<GroupRetry> {
  const jobs: JobRetry[] = [];
  try {
    for (let first = 0; first < jobIds.length; first += JOBS) {
      const part = jobIds.slice(first, first + JOBS);
      const answer = await retry({ type, code, jobIds: part, reason, ...(asOf !== undefined && { asOf }) });
      jobs.push(...answer.jobs);
    }
  } catch (error) {
    return { jobs, error };
  }
  return { jobs, error: null };
}
