// The client: one method for each call of the API.

import type {
  Audit,
  Datasets,
  Failures,
  Job,
  JobRequest,
  Jobs,
  Output,
  Records,
  Status,
  VersionedJob,
} from "./documents.js";
import { type Access, type CallOptions, fetchWithBody, type Send, sender } from "./http.js";
import { isKind, problemFrom } from "./problem.js";
import { watch } from "./watch.js";

/** Which page of a list. */
export interface PageOptions extends CallOptions {
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Which jobs, and which page of them. */
export interface ListJobsOptions extends PageOptions {
  readonly status?: Status;
  readonly jobType?: string;
}

/** For calls that may be conditional to what the caller last saw. */
export interface ChangeOptions extends CallOptions {
  /** The `etag` of the job as the caller knows it: if it has changed since, nothing is done (`precondition-failed`). */
  readonly ifMatch?: string | null | undefined;
}

/** For calls that make something. */
export interface CreateOptions extends CallOptions {
  /** The same request under the same key makes one thing, within 24 hours. By default a fresh one for each call. */
  readonly idempotencyKey?: string;
}

/** What `createClient` gives. Every method rejects with `ProblemError`, `NetworkError`, or the reason of its signal. */
export interface Client {
  /** Creates a job. Repeated under the same idempotency key while no response comes. */
  createJob(request: JobRequest, options?: CreateOptions): Promise<Job>;
  getJob(jobId: string, options?: CallOptions): Promise<VersionedJob>;
  /** A page of jobs, newest first. */
  listJobs(options?: ListJobsOptions): Promise<Jobs>;
  /** The job at once, then whenever it has changed; the last one is that with the final status. Goes on while the network is away. */
  watch(jobId: string, options?: CallOptions): AsyncGenerator<VersionedJob, void, undefined>;
  /** Stops a job; answers it, also where it is canceled already. */
  cancel(jobId: string, options?: ChangeOptions): Promise<Job>;
  /**
   * Runs again what failed: as it was, or as it stands in the corrected failures file that was uploaded as `fileGuid`.
   * Not repeated when its reply is lost: look at `attempts` of the job then.
   */
  retry(jobId: string, options?: ChangeOptions & { readonly fileGuid?: string }): Promise<Job>;
  /** Does for real what a completed job of `mode: validate` has checked; answers the new job. */
  start(jobId: string, options?: ChangeOptions): Promise<Job>;
  /** Deletes a job, its file and its reports; never the records that it imported. */
  delete(jobId: string, options?: ChangeOptions): Promise<void>;
  /** The result of a job that has ended. */
  output(jobId: string, options?: CallOptions): Promise<Output>;
  /** A page of the items that failed. */
  failures(jobId: string, options?: PageOptions): Promise<Failures>;
  /** All items that failed as a CSV file, to be corrected and given to `retry`. */
  failuresCsv(jobId: string, options?: CallOptions): Promise<Blob>;
  /** A file of the output, or its receipt. */
  download(file: { readonly url: string }, options?: CallOptions): Promise<Blob>;
  /** Recounts a job from all that is stored of it. */
  audit(jobId: string, options?: CallOptions): Promise<Audit>;
  listDatasets(options?: PageOptions): Promise<Datasets>;
  /** A page of the records of a dataset. */
  listRecords(dataset: string, options?: PageOptions): Promise<Records>;
  /** Any other call of the API, with token, errors and repetition as the others have them. */
  readonly send: Send;
}

/** Makes a client. Nothing is sent until a method is called. */
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

  return {
    send,
    createJob: (request, options = {}) => json<Job>(send(creationCall("/api/jobs", request, options))),
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
        // By this very call, perhaps, whose first reply was lost.
        const job = await get<Job>(jobPath(jobId), { signal: options.signal });
        if (job.status !== "canceled") throw error;
        return job;
      }
    },
    retry: (jobId, { fileGuid, ...options } = {}) =>
      change(jobId, "retry", options, false, fileGuid === undefined ? undefined : { fileGuid }),
    start: (jobId, options) => change(jobId, "start", options),
    delete: async (jobId, options = {}) => {
      await send({ method: "DELETE", path: jobPath(jobId), ...conditional(options), repeatable: false });
    },
    output: (jobId, options) => get(`${jobPath(jobId)}/output`, options),
    failures: (jobId, options) => get(`${jobPath(jobId)}/failures`, options),
    failuresCsv: async (jobId, options = {}) => {
      const { files } = await get<Output>(`${jobPath(jobId)}/output`, options);
      if (files.failed) return download(access.fetch, files.failed.url, options);
      // No file: the API answers that of a job without failures itself, or says that there is no report.
      const query = { format: "csv" };
      const path = `${jobPath(jobId)}/failures`;
      return (await send({ method: "GET", path, query, signal: options.signal, repeatable: true })).blob();
    },
    download: (file, options) => download(access.fetch, file.url, options),
    audit: (jobId, options) => get(`${jobPath(jobId)}/audit`, options),
    listDatasets: (options) => get("/api/datasets", options),
    listRecords: (dataset, options) => get(`/api/datasets/${encodeURIComponent(dataset)}/records`, options),
  };
}

/** A POST that makes something once, however often it is sent. */
export function creationCall(path: string, body: object, { signal, idempotencyKey }: CreateOptions) {
  const headers = { "idempotency-key": idempotencyKey ?? crypto.randomUUID() };
  return { method: "POST", path, headers, body, signal, repeatable: true } as const;
}

/** The JSON of an response. */
export async function json<T>(response: Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

/** Reads a presigned URL as a whole; however long it takes, until the signal aborts. */
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

function conditional({ ifMatch, signal }: ChangeOptions) {
  return { headers: { "if-match": ifMatch ?? undefined }, signal };
}
