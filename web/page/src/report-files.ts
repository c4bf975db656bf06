/** Downloads of the files of a report, and of the failed rows as a workbook. */

import { type Job, type Output, ProblemError } from "longshore-client";
import { api, guarded } from "./api";

/** A file of the report. */
export type FileName = "results" | "failed" | "skipped" | "unprocessed" | "receipt";

/** Format of the failed rows. Every spreadsheet program opens a workbook without changing a cell. */
export type FailedFormat = "xlsx" | "csv";

/** Returns the link of a file; null if there is no such file. */
export function linkOf(output: Output, name: FileName): { url: string } | null {
  return name === "receipt" ? output.receipt : output.files[name];
}

/** Downloads a file by a new link, because links expire after minutes and a page can be open for days. */
export async function save(jobId: string, name: FileName): Promise<void> {
  const output = await guarded(() => api.output(jobId));
  const url = linkOf(output, name)?.url;
  if (url) location.assign(url);
}

/** Downloads the failed rows, and returns the format: CSV if they do not fit in a workbook. */
export async function saveFailed(job: Job, format: FailedFormat): Promise<FailedFormat> {
  if (format === "xlsx") {
    try {
      saveBlob(await guarded(() => api.failuresWorkbook(job.jobId)), workbookName(job));
      return format;
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
  }
  await save(job.jobId, "failed");
  return "csv";
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ProblemError && error.errors.some(({ code }) => code === "failures_too_large");
}

/** Returns the name of the workbook: that of the job's file, as for the other files of the report. */
function workbookName({ source, jobType }: Job): string {
  const name = source && "name" in source ? source.name : jobType;
  return `${name.replace(/(.)\.[^.]*$/, "$1")}-failed.xlsx`;
}

function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser may still be reading the blob when the click returns.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
