// Creates the client: one method for each call of the API.

import { conditional, json, versioned } from "./answers.js";
import type { Inspection, Job, JobRequest, JobType, Output, Results, VersionedJob } from "./documents.js";
import { type Access, type CallOptions, fetchWithBody, sender } from "./http.js";
import type { ChangeOptions, Client, CreateOptions, PageOptions } from "./methods.js";
import { operatorMethods } from "./operations.js";
import { isKind, problemFrom } from "./problem.js";
import { scheduleMethods } from "./schedules.js";
import { watch } from "./watch.js";
import { webhookMethods } from "./webhooks.js";

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
  const failuresFile = async (jobId: string, format: "csv" | "xlsx", { signal }: CallOptions) => {
    const path = `${jobPath(jobId)}/failures`;
    return (await send({ method: "GET", path, query: { format }, signal, repeatable: true })).blob();
  };
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
    inspect: (fileGuid, request = {}, { signal } = {}) => {
      const path = `/api/uploads/${encodeURIComponent(fileGuid)}/inspect`;
      return json<Inspection>(send({ method: "POST", path, body: request, signal, repeatable: true }));
    },
    getJob: (jobId, { signal } = {}) =>
      versioned<Job>(send({ method: "GET", path: jobPath(jobId), signal, repeatable: true })),
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
      return failuresFile(jobId, "csv", options);
    },
    failuresWorkbook: (jobId, options = {}) => failuresFile(jobId, "xlsx", options),
    download: (file, options) => download(access.fetch, file.url, options),
    image: async (jobId, name, { signal } = {}) => {
      const path = `${jobPath(jobId)}/images/${encodeURIComponent(name)}`;
      const response = await send({ method: "GET", path, signal, repeatable: true });
      if (!response.headers.get("content-type")?.startsWith("application/json")) return response.blob();
      // A deployment can answer the link in place of a redirect.
      const { url } = (await response.json()) as { url: string };
      return download(access.fetch, url, { signal });
    },
    audit: (jobId, options) => get(`${jobPath(jobId)}/audit`, options),
    listJobTypes: (options) => get("/api/job-types", options),
    getJobType: (name, { signal } = {}) =>
      versioned<JobType>(send({ method: "GET", path: typePath(name), signal, repeatable: true })),
    putJobType: (name, request, options = {}) =>
      versioned<JobType>(
        send({
          method: "PUT",
          path: typePath(name),
          ...conditional(options),
          body: request,
          // The first of two conditional requests may have changed the version that the second one names.
          repeatable: !options.ifMatch,
        }),
      ),
    deleteJobType: async (name, options = {}) => {
      await send({ method: "DELETE", path: typePath(name), ...conditional(options), repeatable: false });
    },
    listEvents: (options) => get("/api/events", options),
    ...webhookMethods(send, get),
    ...scheduleMethods(send, get),
    ...operatorMethods(send, get),
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

function typePath(name: string): string {
  return `/api/job-types/${encodeURIComponent(name)}`;
}

function datasetPath(dataset: string): string {
  return `/api/datasets/${encodeURIComponent(dataset)}`;
}

function recordsPath(dataset: string): string {
  return `${datasetPath(dataset)}/records`;
}
