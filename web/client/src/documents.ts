// The API's documents under stable names, independent of how the types are generated.

import type { components } from "./openapi.js";

type Schemas = components["schemas"];

/** A job: status, exact counts, progress, links. */
export type Job = Schemas["Job"];
/** A job with the `ETag` of its response, for `ifMatch`; `null` if the response had none. */
export type VersionedJob = Job & { readonly etag: string | null };
export type JobRequest = Schemas["JobRequest"];
/** The source of a job: a file, items of the request, the records of a dataset, or a part of another job. */
export type JobSource = NonNullable<Job["source"]>;
/** The labels of a job. Every user of the tenant can read them. */
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
export type Dataset = Schemas["Dataset"];
export type Datasets = Schemas["Datasets"];
export type Record = Schemas["Record"];
export type Records = Schemas["Records"];
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
