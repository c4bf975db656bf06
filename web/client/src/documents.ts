// The API's documents under stable names, independent of how the types are generated.

import type { components } from "./openapi.js";

type Schemas = components["schemas"];

/** A job: status, exact counts, progress, links. */
export type Job = Schemas["Job"] & {
  /** The reason why the items wait; absent or `null` while they do not. */
  readonly waitingFor?: WaitingFor | null;
};
/** A cost in US dollars at list prices. */
export type Cost = Schemas["Cost"];
/** The parts of a cost in US dollars. */
export type CostParts = Schemas["CostParts"];
/** The estimated cost of one run without failures, and what is assumed for it. */
export type CostEstimate = Schemas["CostEstimate"];
/** A reason to wait, its beginning, and the time of the next try, if it is known. */
export interface WaitingFor {
  readonly reason: WaitingReason;
  /** RFC 3339. */
  readonly since: string;
  /** RFC 3339. */
  readonly nextTry?: string | null;
}
export type WaitingReason =
  | "handler_unavailable"
  | "handler_failing"
  | "concurrency_limit"
  | "rate_limit"
  | "backpressure"
  | "paused";
/** A job with the `ETag` of its response, for `ifMatch`; `null` if the response had none. */
export type VersionedJob = Job & { readonly etag: string | null };
export type JobRequest = Schemas["JobRequest"];
/** The source of a job: a file, items of the request, the records of a dataset, or a part of another job. */
export type JobSource = NonNullable<Job["source"]>;
/** The labels of a job. Every user of the tenant can read them. */
export type InspectRequest = Schemas["InspectRequest"];
export type Inspection = Schemas["Inspection"];
export type Metadata = Schemas["Metadata"];
export type ImportOptions = Schemas["ImportOptions"];
export type Status = Schemas["Status"];
export type Stage = Schemas["Stage"];
export type Priority = Schemas["Priority"];
export type Jobs = Schemas["Jobs"];
/** The result of an ended job. Its links expire after 15 minutes. */
export type Output = Schemas["Output"];
export type OutputFile = Schemas["OutputFile"];
/** A page of the outputs of an ended job. */
export type Results = Schemas["Results"];
export type Receipt = Schemas["Receipt"];
export type Failure = Schemas["Failure"];
export type Failures = Schemas["Failures"];
export type Audit = Schemas["Audit"];
/** An event: a change of the status of a job. Named so because `Event` is a type of the DOM. */
export type JobEvent = Schemas["Event"];
export type Events = Schemas["Events"];
/** A webhook: an endpoint that is called with events. */
export type Webhook = Schemas["Webhook"];
/** A webhook with the `ETag` of its response, for `ifMatch`; `null` if the response had none. */
export type VersionedWebhook = Webhook & { readonly etag: string | null };
/** A new webhook with its secret, which is shown once. */
export type CreatedWebhook = Schemas["CreatedWebhook"];
export type Webhooks = Schemas["Webhooks"];
export type WebhookRequest = Schemas["WebhookRequest"];
export type WebhookSecret = Schemas["WebhookSecret"];
/** One event for one webhook, with its attempts. */
export type Delivery = Schemas["Delivery"];
export type Deliveries = Schemas["Deliveries"];
/** A schedule: a job that is created repeatedly, or once at a set time. */
export type Schedule = Schemas["Schedule"];
/** A schedule with the `ETag` of its response, for `ifMatch`; `null` if the response had none. */
export type VersionedSchedule = Schedule & { readonly etag: string | null };
export type Schedules = Schemas["Schedules"];
export type ScheduleRequest = Schemas["ScheduleRequest"];
/** An occurrence of a schedule: the job that it has made, or the reason why it made none. */
export type Occurrence = Schemas["Occurrence"];
export type Occurrences = Schemas["Occurrences"];
export type Dataset = Schemas["Dataset"];
export type Datasets = Schemas["Datasets"];
export type Record = Schemas["Record"];
export type Records = Schemas["Records"];
/** A registered job type. Only operators see `target`, and the reason of a refused candidate. */
export type JobType = Schemas["JobType"];
/** A job type with the `ETag` of its response, for `ifMatch`; `null` if the response had none. */
export type VersionedJobType = JobType & { readonly etag: string | null };
export type JobTypes = Schemas["JobTypes"];
export type JobTypeRequest = Schemas["JobTypeRequest"];
export type JobTypeTarget = Schemas["JobTypeTarget"];
/** A registration that is to become active. */
export type JobTypeCandidate = Schemas["JobTypeCandidate"];
export type JobTypeStatus = Schemas["JobTypeStatus"];
/** A job of any tenant, as operators see it: without rows, options and names of files. */
export type OperatorJob = Schemas["OperatorJob"];
export type OperatorJobs = Schemas["OperatorJobs"];
/** The failed items of ended jobs with one job type and one code. */
export type FailureGroup = Schemas["FailureGroup"];
export type FailureGroups = Schemas["FailureGroups"];
export type RetriesRequest = Schemas["RetriesRequest"];
/** The retry of one job of a group. */
export type JobRetry = Schemas["JobRetry"];
export type Retries = Schemas["Retries"];
export type OperatorQueue = Schemas["OperatorQueue"];
export type OperatorQueues = Schemas["OperatorQueues"];
/** A registered job type with its circuit breaker and its permits. */
export type OperatorHandler = Schemas["OperatorHandler"];
export type OperatorHandlers = Schemas["OperatorHandlers"];
export type OperatorWebhook = Schemas["OperatorWebhook"];
export type OperatorWebhooks = Schemas["OperatorWebhooks"];
/** A job type or a tenant whose items do not start. */
export type Pause = Schemas["Pause"];
export type Pauses = Schemas["Pauses"];
export type PauseRequest = Schemas["PauseRequest"];
/** An action of an operator. */
export type OperatorLogEntry = Schemas["OperatorLogEntry"];
export type OperatorLog = Schemas["OperatorLog"];
/** A message that failed at every delivery. */
export type DeadLetter = Schemas["DeadLetter"];
export type DeadLetters = Schemas["DeadLetters"];
/** The effect of a replay of dead letters. */
export type Replay = Schemas["Replay"];
export type Problem = Schemas["Problem"];
export type FieldError = Schemas["FieldError"];
export type UploadRequest = Schemas["UploadRequest"];
/** The presigned URL of a file that is sent in one PUT. */
export type Upload = Schemas["Upload"];
/** The parts of a file that is sent in several PUTs. */
export type UploadInParts = Schemas["UploadInParts"];
/** A part, with its presigned URL if one was requested. */
export type UploadPart = Schemas["UploadPart"];
/** The state of an upload. */
export type UploadStatus = Schemas["UploadStatus"];
/** A part that S3 has received. */
export type ReceivedPart = Schemas["ReceivedPart"];

/**
 * Returns true if a job has a final status. Only a retry or an operator's replay reopens it, with `attempts`
 * increased by one.
 */
export function hasEnded(job: Pick<Job, "status">): boolean {
  return job.status === "completed" || job.status === "failed" || job.status === "canceled";
}
