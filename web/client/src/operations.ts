// Operations: the calls of operators, one method for each.

import { type Getter, json } from "./answers.js";
import type {
  DeadLetters,
  FailureGroups,
  OperatorHandlers,
  OperatorJobs,
  OperatorLog,
  OperatorQueues,
  OperatorWebhooks,
  Pause,
  PauseRequest,
  Pauses,
  Replay,
  Retries,
  RetriesRequest,
  Status,
} from "./documents.js";
import type { CallOptions, Send } from "./http.js";
import type { PageOptions } from "./methods.js";

/** Selects jobs of all tenants, and a page of them. Times are in RFC 3339. */
export interface OperatorJobsOptions extends PageOptions {
  readonly type?: string | undefined;
  readonly tenant?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly status?: Status | undefined;
  /** `oldest`: only unfinished jobs, the oldest first. */
  readonly order?: "newest" | "oldest" | undefined;
}

/** Selects failures of all tenants, and a page of their jobs. */
export interface FailureGroupsOptions extends Omit<OperatorJobsOptions, "status" | "order"> {
  readonly code?: string | undefined;
}

/** Selects dead letters, and a page of them. */
export interface DeadLettersOptions extends PageOptions {
  readonly queue?: "create" | "chunk" | "complete" | undefined;
  readonly jobId?: string | undefined;
}

/** Options of an operator's action. */
export interface ActionOptions extends CallOptions {
  /** The reason, for the operators' log. */
  readonly reason?: string | undefined;
}

/** The calls of operators. Read-only operators can make those that only read. */
export interface OperatorMethods {
  /** Lists a page of the jobs of all tenants, newest first. A page can be empty although more follow. */
  listOperatorJobs(options?: OperatorJobsOptions): Promise<OperatorJobs>;
  /** Groups the failed items of a page of ended jobs by job type and code. */
  listFailureGroups(options?: FailureGroupsOptions): Promise<FailureGroups>;
  /** Retries the items of up to 100 jobs that failed with one code. A repetition starts nothing twice. */
  retryFailures(request: RetriesRequest, options?: CallOptions): Promise<Retries>;
  listQueues(options?: CallOptions): Promise<OperatorQueues>;
  listHandlers(options?: PageOptions): Promise<OperatorHandlers>;
  listOperatorWebhooks(tenant: string, options?: CallOptions): Promise<OperatorWebhooks>;
  listPauses(options?: CallOptions): Promise<Pauses>;
  /** Pauses a job type or a tenant. Returns the pause that is in force, which can be an earlier one. */
  pause(request: PauseRequest, options?: CallOptions): Promise<Pause>;
  /** Ends a pause. A repetition has no further effect. */
  endPause(pauseId: string, reason: string, options?: CallOptions): Promise<void>;
  listOperatorLog(options?: PageOptions): Promise<OperatorLog>;
  /** Lists a page of the open dead letters. */
  listDeadLetters(options?: DeadLettersOptions): Promise<DeadLetters>;
  /** Replays a dead letter. A repetition has no further effect. */
  replayDeadLetter(letterId: string, options?: ActionOptions): Promise<Replay>;
  /** Replays all dead letters of a job. Never repeated after a lost reply. */
  replayDeadLettersOfJob(jobId: string, options?: ActionOptions): Promise<Replay>;
  /** Discards a dead letter. A repetition has no further effect. */
  discardDeadLetter(letterId: string, options?: ActionOptions): Promise<void>;
}

/** Creates the methods of operators. */
export function operatorMethods(send: Send, get: Getter): OperatorMethods {
  return {
    listOperatorJobs: (options) => get("/api/operations/jobs", options),
    listFailureGroups: (options) => get("/api/operations/failures", options),
    retryFailures: (request, { signal } = {}) =>
      json<Retries>(
        send({ method: "POST", path: "/api/operations/retries", body: request, signal, repeatable: true }),
      ),
    listQueues: (options) => get("/api/operations/queues", options),
    listHandlers: (options) => get("/api/operations/handlers", options),
    listOperatorWebhooks: (tenant, { signal } = {}) =>
      json<OperatorWebhooks>(
        send({
          method: "GET",
          path: "/api/operations/webhooks",
          query: { tenant },
          signal,
          repeatable: true,
        }),
      ),
    listPauses: (options) => get("/api/operations/pauses", options),
    // A repetition finds the pause of its first try.
    pause: (request, { signal } = {}) =>
      json<Pause>(
        send({ method: "POST", path: "/api/operations/pauses", body: request, signal, repeatable: true }),
      ),
    endPause: async (pauseId, reason, { signal } = {}) => {
      const path = `/api/operations/pauses/${encodeURIComponent(pauseId)}`;
      await send({ method: "DELETE", path, query: { reason }, signal, repeatable: true });
    },
    listOperatorLog: (options) => get("/api/operations/log", options),
    listDeadLetters: (options) => get("/api/dead-letters", options),
    replayDeadLetter: (letterId, { signal, reason } = {}) => {
      const path = `${deadLetterPath(letterId)}/replay`;
      return json<Replay>(send({ method: "POST", path, query: { reason }, signal, repeatable: true }));
    },
    // After a lost reply, the job may run or have run for them.
    replayDeadLettersOfJob: (jobId, { signal, reason } = {}) =>
      json<Replay>(
        send({
          method: "POST",
          path: "/api/dead-letters/replay",
          body: { jobId, reason },
          signal,
          repeatable: false,
        }),
      ),
    discardDeadLetter: async (letterId, { signal, reason } = {}) => {
      const path = deadLetterPath(letterId);
      await send({ method: "DELETE", path, query: { reason }, signal, repeatable: true });
    },
  };
}

function deadLetterPath(letterId: string): string {
  return `/api/dead-letters/${encodeURIComponent(letterId)}`;
}
