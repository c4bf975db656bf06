// The documents of the API under names of their own, so that callers need not know how they are generated.

import type { components } from "./openapi.js";

type Schemas = components["schemas"];

/** A job as it stands: status, exact counts, progress, links. */
export type Job = Schemas["Job"];
/** A job with the `ETag` of its answer, to be given as `ifMatch`; `null` if the answer had none. */
export type VersionedJob = Job & { readonly etag: string | null };
export type JobRequest = Schemas["JobRequest"];
export type ImportOptions = Schemas["ImportOptions"];
export type Status = Schemas["Status"];
export type Stage = Schemas["Stage"];
export type Priority = Schemas["Priority"];
export type Jobs = Schemas["Jobs"];
/** The result of a job that has ended; its links end after 15 minutes. */
export type Output = Schemas["Output"];
export type OutputFile = Schemas["OutputFile"];
export type Receipt = Schemas["Receipt"];
export type Failure = Schemas["Failure"];
export type Failures = Schemas["Failures"];
export type Audit = Schemas["Audit"];
export type Dataset = Schemas["Dataset"];
export type Datasets = Schemas["Datasets"];
export type Record = Schemas["Record"];
export type Records = Schemas["Records"];
export type Problem = Schemas["Problem"];
export type FieldError = Schemas["FieldError"];
export type UploadRequest = Schemas["UploadRequest"];
/** Where to put a file that goes as a whole. */
export type Upload = Schemas["Upload"];
/** How a file is cut that goes in parts. */
export type UploadInParts = Schemas["UploadInParts"];
/** A part; with where to put it, if that was asked for. */
export type UploadPart = Schemas["UploadPart"];
/** An upload as it stands. */
export type UploadStatus = Schemas["UploadStatus"];
/** A part that S3 has. */
export type ReceivedPart = Schemas["ReceivedPart"];

/** Whether a job has a final status. Only a retry (or an operator's replay) opens it again, with `attempts` one more. */
export function hasEnded(job: Pick<Job, "status">): boolean {
  return job.status === "completed" || job.status === "failed" || job.status === "canceled";
}
