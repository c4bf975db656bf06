// The client: one method for each call of the API.

import type {
  Audit,
  Datasets,
  Failures,
  Job,
  JobRequest,
  Jobs,
  Metadata,
  Output,
  OutputFile,
  Records,
  Results,
  Status,
  VersionedJob,
} from "./documents.js";
import { type Access, type CallOptions, fetchWithBody, type Send, sender } from "./http.js";
import { isKind, problemFrom } from "./problem.js";
import { watch } from "./watch.js";

/** Selects a page of a list. */
export interface PageOptions extends CallOptions {
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** Selects jobs by status, type and metadata, and a page of them. */
export interface ListJobsOptions extends PageOptions {
  readonly status?: Status;
  readonly jobType?: string;
  /** Selects the jobs that have all of these pairs. */
  readonly metadata?: Metadata;
}

/** Options of calls that may depend on the job's version. */
export interface ChangeOptions extends CallOptions {
  /**
   * The job's `etag`, as last read. If the job has changed since, the call fails with `precondition-failed`.
   */
  readonly ifMatch?: string | null | undefined;
}

/** Options of a retry: at most one of `fileGuid` and `code`. */
export interface RetryOptions extends ChangeOptions {
  /** Upload of a corrected failures file. */
  readonly fileGuid?: string;
  /** Code of the failed items that run again; see `failuresByCode` of the output. */
  readonly code?: string;
  /** Field of the failed items that run again. Requires `code`. */
  readonly field?: string;
}

/** Options of an undo. */
export interface UndoOptions extends ChangeOptions {
  /** `validate` only previews the outcomes and writes nothing. */
  readonly mode?: "undo" | "validate";
}

/** The request of `run`, without the job type and the source. */
export type RunRequest = Omit<JobRequest, "jobType" | "fileGuid" | "items" | "source">;

/** An ended job and the outputs of its items. */
export interface Finished {
  readonly job: VersionedJob;
  /** One row for each item that succeeded; none if the job type has no output. */
  readonly results: readonly unknown[];
  /** Warnings about the job and its results, such as `results_incomplete`. */
  readonly issues: Output["issues"];
}

/** The request of `export`: the form of the file, and a selection of records. */
export interface ExportRequest
  extends Omit<JobRequest, "jobType" | "fileGuid" | "items" | "source" | "options"> {
  /** Exports only records that were written at this time or later: `source.nextSince` of the previous job. */
  readonly updatedSince?: string;
}

/** An ended export. */
export interface Exported {
  readonly job: VersionedJob;
  /** The file, for `download`; `null` if no record was exported. Its link expires after 15 minutes. */
  readonly file: OutputFile | null;
  /** Warnings about the job and its file, such as `columns_left_out`. */
  readonly issues: Output["issues"];
}

/** Options of calls that create something. */
export interface CreateOptions extends CallOptions {
  /**
   * Requests with the same key have one effect, for 24 hours. By default each call has a new key.
   */
  readonly idempotencyKey?: string;
}

/**
 * The API as methods. Each rejects with `ProblemError`, with `NetworkError`, or with the reason of its
 * signal.
 */
export interface Client {
  /** Creates a job. Retries with the same idempotency key if no answer arrives. */
  createJob(request: JobRequest, options?: CreateOptions): Promise<Job>;
  getJob(jobId: string, options?: CallOptions): Promise<VersionedJob>;
  /** Lists a page of jobs, newest first. */
  listJobs(options?: ListJobsOptions): Promise<Jobs>;
  /**
   * Yields the job at once and after each change. The last one has a final status. Continues through network
   * failures.
   */
  watch(jobId: string, options?: CallOptions): AsyncGenerator<VersionedJob, void, undefined>;
  /** Cancels a job and returns it. Also succeeds if the job is already canceled. */
  cancel(jobId: string, options?: ChangeOptions): Promise<Job>;
  /**
   * Retries failed items: all of them, those in the corrected failures file uploaded as `fileGuid`, or those
   * with a code. Never repeated after a lost reply: `attempts` of the job shows if the retry was accepted.
   */
  retry(jobId: string, options?: RetryOptions): Promise<Job>;
  /** Starts an import from a completed job of `mode: validate`. Returns the new job. */
  start(jobId: string, options?: ChangeOptions): Promise<Job>;
  /**
   * Undoes an import, or previews the undo. Returns the undo; while one is active, the active one. Fails with
   * `undo-too-early` for some minutes after the end of the import; `retryAfter` of the error has the seconds.
   */
  undo(jobId: string, options?: UndoOptions): Promise<Job>;
  /**
   * Deletes a job, its file and its reports. Keeps the records that it imported; the import can then no longer
   * be undone.
   */
  delete(jobId: string, options?: ChangeOptions): Promise<void>;
  /** Returns the result of an ended job. */
  output(jobId: string, options?: CallOptions): Promise<Output>;
  /** Lists a page of the outputs of the items that succeeded, in the order of the items. */
  results(jobId: string, options?: PageOptions): Promise<Results>;
  /** Yields the outputs of all items that succeeded, page by page. */
  allResults(jobId: string, options?: CallOptions): AsyncGenerator<unknown, void, undefined>;
  /**
   * Creates a job over up to 10,000 items, waits for its end and returns their outputs. Resolves for every
   * final status: `counts` of the job shows how many items failed, `failures` why. Repeats nothing after a lost
   * reply, because the job has an idempotency key.
   */
  run(
    jobType: string,
    items: readonly unknown[],
    request?: RunRequest,
    options?: CreateOptions,
  ): Promise<Finished>;
  /**
   * Creates a job that exports the records of a dataset, waits for its end and returns the file. Resolves for
   * every final status: a canceled export has the records that it had reached. To show the progress, create the
   * job with `createJob` and use `watch`.
   */
  export(dataset: string, request?: ExportRequest, options?: CreateOptions): Promise<Exported>;
  /** Lists a page of failed items. */
  failures(jobId: string, options?: PageOptions): Promise<Failures>;
  /** Returns all failed items as a CSV file, for correction and `retry`. */
  failuresCsv(jobId: string, options?: CallOptions): Promise<Blob>;
  /** Downloads a file of the output, or the receipt. */
  download(file: { readonly url: string }, options?: CallOptions): Promise<Blob>;
  /** Recounts a job from everything that is stored for it. */
  audit(jobId: string, options?: CallOptions): Promise<Audit>;
  listDatasets(options?: PageOptions): Promise<Datasets>;
  /**
   * Creates a job that deletes the records of a dataset. Retries with the same idempotency key if no answer
   * arrives.
   */
  deleteDataset(dataset: string, options?: CreateOptions): Promise<Job>;
  /** Lists a page of a dataset's records. */
  listRecords(dataset: string, options?: PageOptions): Promise<Records>;
  /** Deletes a record, if it exists. A job over the dataset that has not ended can write it again. */
  deleteRecord(dataset: string, key: string, options?: CallOptions): Promise<void>;
  /** Makes any other call of the API, with the same token, errors and retries. */
  readonly send: Send;
}

/** Rows of a page of `allResults`: the maximum of the API. */
const RESULTS_PAGE = 1000;

/** Creates a client. Sends nothing until a method is called. */
export function createClient(access: Access): Client {
  const send = sender(access);
  const get = <T>(path: string, { signal, ...query }: CallOptions = {}) =>
    json<T>(send({ method: "GET", path, query, signal, repeatable: true }));
  const change = (
    jobId: string,
    action: string,
    options: ChangeOptions = {},
    repeatable = true,
    body?: object,
  ) =>
    json<Job>(
      send({
        method: "POST",
        path: `${jobPath(jobId)}/${action}`,
        ...conditional(options),
        repeatable,
        body,
      }),
    );

  const createJob = (request: JobRequest, options: CreateOptions = {}) =>
    json<Job>(send(creationCall("/api/jobs", request, options)));
  const results = (jobId: string, options?: PageOptions) =>
    get<Results>(`${jobPath(jobId)}/results`, options);
  const output = (jobId: string, options?: CallOptions) => get<Output>(`${jobPath(jobId)}/output`, options);
  const ended = async (jobId: string, { signal }: CallOptions) => {
    let last: VersionedJob | undefined;
    for await (const job of watch(send, jobPath(jobId), { signal })) last = job;
    if (!last) throw new Error(`job ${jobId} cannot be watched`);
    return last;
  };
  async function* allResults(jobId: string, { signal }: CallOptions = {}) {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await results(jobId, { limit: RESULTS_PAGE, cursor, signal });
      yield* page.results;
      cursor = page.nextCursor;
    }
  }

  return {
    send,
    createJob,
    results,
    allResults,
    run: async (jobType, items, request = {}, options = {}) => {
      const { jobId } = await createJob({ ...request, jobType, items: [...items] }, options);
      const { signal } = options;
      const job = await ended(jobId, { signal });
      const rows: unknown[] = [];
      for await (const row of allResults(jobId, { signal })) rows.push(row);
      const { issues } = await output(jobId, { signal });
      return { job, results: rows, issues };
    },
    export: async (dataset, { updatedSince, ...request } = {}, options = {}) => {
      const source = { dataset, ...(updatedSince !== undefined && { updatedSince }) };
      const { jobId } = await createJob({ ...request, jobType: "export", source }, options);
      const { signal } = options;
      const job = await ended(jobId, { signal });
      const { files, issues } = await output(jobId, { signal });
      return { job, file: files.results ?? null, issues };
    },
    getJob: async (jobId, options = {}) => {
      const response = await send({
        method: "GET",
        path: jobPath(jobId),
        signal: options.signal,
        repeatable: true,
      });
      return { ...((await response.json()) as Job), etag: response.headers.get("etag") };
    },
    listJobs: (options) => get("/api/jobs", options),
    watch: (jobId, options) => watch(send, jobPath(jobId), options),
    cancel: async (jobId, options = {}) => {
      try {
        return await change(jobId, "cancel", options);
      } catch (error) {
        if (!isKind(error, "job-ended")) throw error;
        // An earlier attempt of this call may have canceled it and lost its reply.
        const job = await get<Job>(jobPath(jobId), { signal: options.signal });
        if (job.status !== "canceled") throw error;
        return job;
      }
    },
    retry: (jobId, { fileGuid, code, field, ...options } = {}) => {
      const selects = [fileGuid, code, field].some((value) => value !== undefined);
      return change(jobId, "retry", options, false, selects ? { fileGuid, code, field } : undefined);
    },
    start: (jobId, options) => change(jobId, "start", options),
    undo: (jobId, { mode, ...options } = {}) =>
      // A repeated preview would be another job.
      change(jobId, "undo", options, mode !== "validate", mode && { mode }),
    delete: async (jobId, options = {}) => {
      await send({ method: "DELETE", path: jobPath(jobId), ...conditional(options), repeatable: false });
    },
    output,
    failures: (jobId, options) => get(`${jobPath(jobId)}/failures`, options),
    failuresCsv: async (jobId, options = {}) => {
      const { files } = await output(jobId, options);
      if (files.failed) return download(access.fetch, files.failed.url, options);
      // Without a file, the API answers with an empty list, or with the problem that there is no report.
      const query = { format: "csv" };
      const path = `${jobPath(jobId)}/failures`;
      return (await send({ method: "GET", path, query, signal: options.signal, repeatable: true })).blob();
    },
    download: (file, options) => download(access.fetch, file.url, options),
    audit: (jobId, options) => get(`${jobPath(jobId)}/audit`, options),
    listDatasets: (options) => get("/api/datasets", options),
    deleteDataset: (dataset, { signal, idempotencyKey } = {}) =>
      json(
        send({
          method: "DELETE",
          path: datasetPath(dataset),
          headers: { "idempotency-key": idempotencyKey ?? crypto.randomUUID() },
          signal,
          repeatable: true,
        }),
      ),
    listRecords: (dataset, options) => get(recordsPath(dataset), options),
    deleteRecord: async (dataset, key, { signal } = {}) => {
      await send({ method: "DELETE", path: recordsPath(dataset), query: { key }, signal, repeatable: true });
    },
  };
}

/** Returns a POST with an idempotency key, which has one effect however often it is sent. */
export function creationCall(path: string, body: object, { signal, idempotencyKey }: CreateOptions) {
  const headers = { "idempotency-key": idempotencyKey ?? crypto.randomUUID() };
  return { method: "POST", path, headers, body, signal, repeatable: true } as const;
}

/** Parses a response as JSON. */
export async function json<T>(response: Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

/**
 * Downloads a presigned URL, without a token: the URL is the permission. No timeout; the signal can abort it.
 */
async function download(
  fetcher: typeof fetch | undefined,
  url: string,
  { signal }: CallOptions = {},
): Promise<Blob> {
  const { response, body } = await fetchWithBody(fetcher, url, { signal });
  if (!response.ok) throw problemFrom(response, await body.text());
  return body;
}

function jobPath(jobId: string): string {
  return `/api/jobs/${encodeURIComponent(jobId)}`;
}

function datasetPath(dataset: string): string {
  return `/api/datasets/${encodeURIComponent(dataset)}`;
}

function recordsPath(dataset: string): string {
  return `${datasetPath(dataset)}/records`;
}

function conditional({ ifMatch, signal }: ChangeOptions) {
  return { headers: { "if-match": ifMatch ?? undefined }, signal };
}
