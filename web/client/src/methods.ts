// The methods of the client, and their options.

import type {
  Audit,
  CreatedWebhook,
  Datasets,
  Deliveries,
  Delivery,
  Events,
  Failures,
  Inspection,
  InspectRequest,
  Job,
  JobRequest,
  Jobs,
  JobTypeRequest,
  JobTypes,
  Metadata,
  Occurrences,
  Output,
  OutputFile,
  Records,
  Results,
  ScheduleRequest,
  Schedules,
  Status,
  VersionedJob,
  VersionedJobType,
  VersionedSchedule,
  VersionedWebhook,
  WebhookRequest,
  WebhookSecret,
  Webhooks,
} from "./documents.js";
import type { CallOptions, Send } from "./http.js";
import type { OperatorMethods } from "./operations.js";

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

/** Options of calls that may depend on the version of the job or the job type. */
export interface ChangeOptions extends CallOptions {
  /** The `etag`, as last read. If the document has changed since, the call fails with `precondition-failed`. */
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
  extends Omit<JobRequest, "jobType" | "fileGuid" | "reading" | "items" | "source" | "options"> {
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

/** The calls of webhooks. */
export interface WebhookMethods {
  /**
   * Creates a webhook, and returns it with its secret. Never repeated after a lost reply: `listWebhooks` shows if it was
   * created, and `rotateWebhookSecret` returns another secret.
   */
  createWebhook(request: WebhookRequest, options?: CallOptions): Promise<CreatedWebhook>;
  listWebhooks(options?: CallOptions): Promise<Webhooks>;
  getWebhook(webhookId: string, options?: CallOptions): Promise<VersionedWebhook>;
  /** Replaces all fields of a webhook. Without `ifMatch`, a lost reply is retried. */
  putWebhook(webhookId: string, request: WebhookRequest, options?: ChangeOptions): Promise<VersionedWebhook>;
  /** Deletes a webhook. Never repeated after a lost reply. */
  deleteWebhook(webhookId: string, options?: ChangeOptions): Promise<void>;
  /** Calls the endpoint with a check. `check.result` of the webhook has the result within some seconds. */
  testWebhook(webhookId: string, options?: ChangeOptions): Promise<VersionedWebhook>;
  /**
   * Replaces the secret. The previous one is used, too, for 24 hours. Further calls within them return the same new
   * one. Without `ifMatch`, a lost reply is retried.
   */
  rotateWebhookSecret(webhookId: string, options?: ChangeOptions): Promise<WebhookSecret>;
  /** Lists a page of a webhook's deliveries, newest first. */
  listDeliveries(webhookId: string, options?: PageOptions): Promise<Deliveries>;
  /** Sends a delivery again. */
  replayDelivery(webhookId: string, deliveryId: string, options?: CallOptions): Promise<Delivery>;
  /** Sends all deliveries since a time (RFC 3339) again that were not accepted. */
  replayDeliveries(webhookId: string, since: string, options?: CallOptions): Promise<void>;
}

/** The calls of schedules. */
export interface ScheduleMethods {
  /** Creates a schedule. Never repeated after a lost reply: `listSchedules` shows if it was created. */
  createSchedule(request: ScheduleRequest, options?: CallOptions): Promise<VersionedSchedule>;
  listSchedules(options?: CallOptions): Promise<Schedules>;
  getSchedule(scheduleId: string, options?: CallOptions): Promise<VersionedSchedule>;
  /** Replaces all fields of a schedule. Without `ifMatch`, a lost reply is retried. */
  putSchedule(
    scheduleId: string,
    request: ScheduleRequest,
    options?: ChangeOptions,
  ): Promise<VersionedSchedule>;
  /** Deletes a schedule. Its jobs stay. Never repeated after a lost reply. */
  deleteSchedule(scheduleId: string, options?: ChangeOptions): Promise<void>;
  /** Creates a job from a schedule now. Never repeated after a lost reply. */
  triggerSchedule(scheduleId: string, options?: CallOptions): Promise<Job>;
  /** Lists a page of a schedule's occurrences, newest first. */
  listOccurrences(scheduleId: string, options?: PageOptions): Promise<Occurrences>;
}

/**
 * The API as methods. Each rejects with `ProblemError`, with `NetworkError`, or with the reason of its
 * signal.
 */
export interface Client extends WebhookMethods, ScheduleMethods, OperatorMethods {
  /** Creates a job. Retries with the same idempotency key if no answer arrives. */
  createJob(request: JobRequest, options?: CreateOptions): Promise<Job>;
  /** Tells how an uploaded file is read, and what a job of the request's type would say about it. Writes nothing. */
  inspect(fileGuid: string, request?: InspectRequest, options?: CallOptions): Promise<Inspection>;
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
  /**
   * Returns all failed items as a workbook (`.xlsx`), for correction and `retry`. Refused with 422 if they do not fit
   * in 4 MiB.
   */
  failuresWorkbook(jobId: string, options?: CallOptions): Promise<Blob>;
  /** Downloads a file of the output, or the receipt. */
  download(file: { readonly url: string }, options?: CallOptions): Promise<Blob>;
  /**
   * Returns an image of a job of the type `image`: a file of one of its outputs, by its name. Only the API gets the
   * token, and not the storage to which it redirects.
   */
  image(jobId: string, name: string, options?: CallOptions): Promise<Blob>;
  /** Recounts a job from everything that is stored for it. */
  audit(jobId: string, options?: CallOptions): Promise<Audit>;
  /**
   * Lists a page of what has happened to jobs, oldest first. To miss no event, pass `nextCursor` of each page to the
   * next call, also after an empty page.
   */
  listEvents(options?: PageOptions): Promise<Events>;
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
  /** Lists a page of the registered job types, by name. */
  listJobTypes(options?: PageOptions): Promise<JobTypes>;
  getJobType(name: string, options?: CallOptions): Promise<VersionedJobType>;
  /**
   * Registers a job type, or changes it; for operators. It becomes active when its handler has answered a ping: until
   * then, the result has a `candidate`. Without `ifMatch`, a lost reply is retried.
   */
  putJobType(name: string, request: JobTypeRequest, options?: ChangeOptions): Promise<VersionedJobType>;
  /** Deletes a job type; for operators. Ends no job. Never repeated after a lost reply. */
  deleteJobType(name: string, options?: ChangeOptions): Promise<void>;
  /** Makes any other call of the API, with the same token, errors and retries. */
  readonly send: Send;
}
