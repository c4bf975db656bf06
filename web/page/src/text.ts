/** All texts of the page, in one place for translation. */

import type { Failure, FieldError, Job, JobSource, Occurrence } from "longshore-client";
import { costText } from "./text/cost";
import { errorText, FAILED, UNREACHABLE } from "./text/errors";
import { exportsText } from "./text/exports";
import { fileText } from "./text/file";
import { bytes, moment } from "./text/format";
import { imagesText } from "./text/images";
import { inspectionText } from "./text/inspection";
import { jobText } from "./text/job";
import { operationsText } from "./text/operations";
import { schedulesText } from "./text/schedules";
import { typesText } from "./text/types";
import { waitingText } from "./text/waiting";
import { webhooksText } from "./text/webhooks";

export { bytes, dayOf, dollars, duration, moment, number, timeLeft, timeOfDay } from "./text/format";

/** Returns a job's display name. */
export function jobName({ fileName, jobType, jobId, source, undoes }: Job): string {
  if (undoes) {
    const of = fileName ?? undoes.jobId.slice(-6);
    return undoes.preview ? text.job.previewOf(of) : text.job.undoOf(of);
  }
  if (source?.kind === "dataset")
    return (text.job.over[jobType] ?? text.job.overOther(jobType))(source.dataset);
  return fileName ?? `${jobType} ${jobId.slice(-6)}`;
}

/**
 * Describes the source of a job's items beside its name: the size of its file and what of it was read, the number
 * of items, the time since which the records of its dataset were written, or the job whose items were copied; undefined for a job
 * that is one item.
 */
export function jobSource({ source, itemCount, itemCountFinal }: Job): string | undefined {
  if (source?.kind === "file")
    return [bytes(source.sizeBytes), preparedText(source.prepared)].filter(Boolean).join(" · ");
  if (source?.kind === "dataset" && source.updatedSince) return text.job.since(moment(source.updatedSince));
  if (source?.kind === "job") return text.job.copied[source.part](source.jobId.slice(-6));
  if (source?.kind === "items") return text.job.fromItems(itemCountFinal ? itemCount : undefined);
  return undefined;
}

/**
 * Describes a file that is converted before it is read; undefined for one that is read as it is, and for UTF-16, which
 * is an encoding like others to people.
 */
export function preparedText(prepared: Extract<JobSource, { kind: "file" }>["prepared"]): string | undefined {
  const { workbook, zip, gzip, zstd } = text.reading;
  switch (prepared?.form) {
    case "workbook":
      return workbook(prepared.sheet);
    case "zip":
      return zip(prepared.file);
    case "gzip":
      return gzip;
    case "zstd":
      return zstd;
    default:
      return undefined;
  }
}

/** Returns a job's state as a sentence. */
export function jobMessage({ status, stage, percent, preparation }: Job): string {
  const { waiting, running, converting, stopping, stoppingAt, ...ended } = text.job.messages;
  if (status === "waiting") return stage === "stopping" ? stopping : waiting;
  if (status !== "running") return ended[status];
  if (stage === "stopping") return stoppingAt(percent);
  return preparation ? converting(percent) : running(percent);
}

/** Returns a job's progress in rows, or in bytes while its file is converted. */
export function jobProgress({ preparation, itemCountFinal, itemProgress, itemCount }: Job): string {
  const { converted, rows, counting } = text.job;
  if (preparation) return converted(preparation.readBytes, preparation.sizeBytes);
  return (itemCountFinal ? rows : counting)(itemProgress, itemCount);
}

/** Returns the sentence for screen readers: each tenth of the conversion and of the progress, and the end. */
export function jobAnnouncement(job: Job): string {
  if (job.status !== "running") return jobMessage(job);
  const { announced, announcedConversion } = text.job;
  if (!job.preparation) return announced(tenths(job.percent));
  const { readBytes, sizeBytes } = job.preparation;
  return announcedConversion(tenths((100 * readBytes) / sizeBytes));
}

function tenths(percent: number): number {
  return Math.floor(percent / 10) * 10;
}

/**
 * Returns the reason of a row's failure; undefined for an unknown code. A colon at the end asks for the API's
 * own sentence, which has more detail.
 */
export function failureReason({ code, field }: Pick<Failure, "code" | "field">): string | undefined {
  const { reasons, bySchema, theRow } = text.failures;
  const words = reasons[code] ?? (code.startsWith("schema_") ? bySchema : undefined);
  return words?.(field === null ? theRow : `"${field}"`).replace(/^./, (first) => first.toUpperCase());
}

/** Returns the reason for which a request's field is refused: the page's words, or the API's for an unknown code. */
export function fieldReason({ pointer, code, detail }: FieldError): string {
  return text.badFields[`${pointer} ${code}`] ?? text.badFields[code] ?? detail;
}

/** Returns a sentence of the API without what people cannot use, or read in the page's words above it. */
export function apiMessage(message: string): string {
  return message
    .replace(/ \(detected at byte \d+\)/, "")
    .replace(/^columns without a property in the schema are imported as text: /, "");
}

/** Returns the reason of an occurrence that made no job. */
export function occurrenceReason({ reason, code, detail }: Occurrence): string {
  const { reasons, failures } = text.schedules.occurrences;
  if (reason) return reasons[reason];
  return [code && failures[code], detail].filter(Boolean).join(" ");
}

export const text = {
  app: "Longshore",
  description: "Import a file, watch its progress, fix what failed.",
  noScript: "This page needs JavaScript.",
  notices: "Licences of third-party software",
  titles: {
    import: "Import",
    jobs: "Jobs",
    job: "Job",
    datasets: "Datasets",
    records: "Records",
    types: "Job types",
    type: "Job type",
    schedules: "Schedules",
    schedule: "Schedule",
    webhooks: "Webhooks",
    webhook: "Webhook",
    operations: "Operations",
    unknown: "Not found",
  },
  skip: "Skip to content",
  nav: {
    label: "Pages",
    import: "Import",
    jobs: "Jobs",
    datasets: "Datasets",
    types: "Job types",
    schedules: "Schedules",
    webhooks: "Webhooks",
    operations: "Operations",
  },
  theme: { toDark: "Use dark colours", toLight: "Use light colours" },
  loading: "Loading...",
  table: { scrolls: "Scroll this table sideways to see all columns." },
  more: "Show more",
  tryAgain: "Try again",
  unreachable: UNREACHABLE,
  offline: "No connection. This page continues by itself once you are online.",
  notFound: {
    title: "There is nothing here",
    body: "The address may be wrong, or the job or dataset has been deleted.",
    home: "Import a file",
  },
  failed: FAILED,
  request: (id: string) => `Request ${id}`,

  session: {
    title: "Sign in to import files",
    body: "You will return to this page.",
    expiredTitle: "Your session has ended",
    expiredBody: "Sign in again to continue where you were. Nothing is lost: your jobs keep running.",
    expiredHere: "Sign in again in another tab. This tab keeps its content and continues by itself.",
    signIn: "Sign in",
    signInTab: "Open sign-in in another tab",
    signOut: "Sign out",
    errors: {
      refused: "Sign-in failed.",
      unreachable:
        "The sign-in page does not respond. Check your connection. If that does not help, ask your administrator.",
    },
    noName: "Signed in",
  },

  datasets: {
    title: "Datasets",
    none: "No datasets yet. An import creates one.",
    name: "Name",
    created: "Created",
    caption: "Datasets by name",
  },

  records: {
    none: "This dataset has no records.",
    key: "Key",
    updated: "Written",
    caption: (name: string) => `Records of ${name}`,
    back: "All datasets",
  },

  ...costText,
  ...exportsText,
  ...fileText,
  ...inspectionText,
  ...jobText,
  ...typesText,
  ...waitingText,
  ...schedulesText,
  ...webhooksText,
  ...operationsText,
  ...imagesText,
  ...errorText,
};
