/** The filters of the operators' lists: as the address of the page has them, and as the API takes them. */

import type {
  DeadLettersOptions,
  FailureGroupsOptions,
  OperatorJob,
  OperatorJobsOptions,
  Status,
} from "longshore-client";
import type { OperationsPart } from "../router";

export const STATUSES: readonly Status[] = ["waiting", "running", "completed", "failed", "canceled"];

/** Ages of jobs, in milliseconds. */
const AGES = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 };

export type Age = keyof typeof AGES;

/** Values that a filter can have; a filter that is not named here can have any text. */
const CHOICES: Partial<Record<keyof Filters, readonly string[]>> = {
  status: STATUSES,
  age: Object.keys(AGES),
  order: ["oldest"],
  queue: ["create", "chunk", "complete"],
};

/** Filters, each by its name in the address. */
export interface Filters {
  status?: Status;
  type?: string;
  tenant?: string;
  age?: Age;
  order?: "oldest";
  code?: string;
  createdAfter?: string;
  createdBefore?: string;
  queue?: "create" | "chunk" | "complete";
  jobId?: string;
}

const NAMES = [
  "status",
  "type",
  "tenant",
  "age",
  "order",
  "code",
  "createdAfter",
  "createdBefore",
  "queue",
  "jobId",
] as const satisfies readonly (keyof Filters)[];

/** Reads the filters of a query string. Leaves out empty and unknown values. */
export function readFilters(search: string): Filters {
  const query = new URLSearchParams(search);
  const given = NAMES.map((name) => [name, query.get(name)?.trim()] as const);
  const valid = given.filter(([name, value]) => value && (CHOICES[name]?.includes(value) ?? true));
  return Object.fromEntries(valid) as Filters;
}

/** Returns filters as a query. */
export function queryOf(filters: Filters): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of NAMES) {
    const value = filters[name];
    if (value) query.set(name, value);
  }
  return query;
}

/** Returns the address of a part with filters. */
export function linkTo(part: OperationsPart, filters: Filters = {}): string {
  const query = queryOf(filters).toString();
  return `/operations/${part}${query && `?${query}`}`;
}

/** Returns the filters that select the failures of one job: those of the jobs of its tenant of that very time. */
export function failuresOf({ tenant, jobType, createdAt }: OperatorJob): Filters {
  const createdBefore = new Date(Date.parse(createdAt) + 1).toISOString();
  return { tenant, type: jobType, createdAfter: createdAt, createdBefore };
}

/** Returns what the API takes to list jobs. */
export function jobsOptions(filters: Filters, now: number): OperatorJobsOptions {
  const { status, order } = filters;
  return { ...selected(filters, now), status, order };
}

/** Returns what the API takes to group failures. */
export function failuresOptions(filters: Filters, now: number): FailureGroupsOptions {
  return { ...selected(filters, now), code: filters.code };
}

/** Returns what the API takes to list dead letters. */
export function deadLettersOptions({ queue, jobId }: Filters): DeadLettersOptions {
  return { queue, jobId };
}

function selected({ type, tenant, age, createdAfter, createdBefore }: Filters, now: number) {
  const since = age && new Date(now - AGES[age]).toISOString();
  return { type, tenant, createdAfter: createdAfter ?? since, createdBefore };
}
