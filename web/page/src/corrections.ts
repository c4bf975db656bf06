/**
 * Corrected rows of a job: their upload, then the job's retry. Both continue while the user looks at another
 * view.
 */

import { effect, signal } from "@preact/signals";
import { type Job, NetworkError } from "longshore-client";
import { announce } from "./accessibility";
import { api, guarded } from "./api";
import { isWorkbook } from "./file/inspection";
import { sessionState } from "./session";
import { text } from "./text";
import { Upload } from "./upload";

/** The accepted file types: a table, as spreadsheet programs save it, or compressed. */
export const CORRECTION_TYPES = [".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".gz", ".zst", ".zip"];

export class CorrectionUpload {
  readonly upload = new Upload(CORRECTION_TYPES);
  readonly stage = signal<"none" | "uploading" | "retrying">("none");
  readonly error = signal<unknown>(null);
  /** Called when the job may be running again. Set by the job's view while it is shown. */
  onReopened: (() => void) | null = null;

  #pending = new AbortController();

  /** @param hasColumns True if the failed rows have the columns of the job's file. */
  constructor(
    readonly jobId: string,
    readonly hasColumns: boolean,
  ) {}

  /** Uploads the file and retries the job with it. */
  async run(file: File): Promise<void> {
    const { signal } = this.#pending;
    const refusal = this.upload.refusal(file);
    this.error.value = refusal && new Error(refusal);
    if (refusal) return;
    this.stage.value = "uploading";
    try {
      const isUploaded = this.upload.file.value === file && this.upload.fileGuid.value;
      if (!isUploaded) this.upload.begin(file);
      const fileGuid = await this.upload.finished(signal);
      this.stage.value = "retrying";
      const unusable = this.hasColumns ? await this.#unusable(fileGuid, signal) : null;
      if (unusable) {
        this.upload.remove();
        throw new Error(unusable);
      }
      await guarded(() => api.retry(this.jobId, { fileGuid }));
      this.upload.forget();
      return this.#reopened();
    } catch (error) {
      if (signal.aborted) return;
      this.error.value = error;
      // After a lost reply, only the job shows whether it was retried.
      if (error instanceof NetworkError && this.stage.value === "retrying") this.onReopened?.();
      if (!this.onReopened) announce(text.corrections.notReopened);
    }
    this.stage.value = "none";
  }

  /**
   * Returns why a workbook is no file of this job's failed rows, or null. The API checks other files before it reopens the
   * job, and a workbook only afterwards.
   */
  async #unusable(fileGuid: string, signal: AbortSignal): Promise<string | null> {
    const t = text.corrections;
    const found = await guarded(() => api.inspect(fileGuid, { reading: { headerRow: 1 } }, { signal }));
    if (!isWorkbook(found)) return null;
    // An inspection has less time than a job.
    if (found.error?.code === "inspection_too_long") return null;
    if (found.error) return found.error.message;
    const { failures } = await guarded(() => api.failures(this.jobId, { limit: 1, signal }));
    const names = found.columns.map(({ name }) => withoutApostrophe(name));
    const missing = Object.keys(failures[0]?.row ?? {}).filter((name) => !names.includes(name));
    if (!names.some((name) => /^row(_\d+)?$/.test(name))) missing.unshift("row");
    return missing.length > 0 ? t.missing(missing, found.prepared?.sheet ?? "") : null;
  }

  /** Stops the upload. */
  cancel(): void {
    this.#pending.abort();
    this.#pending = new AbortController();
    this.upload.remove();
    this.stage.value = "none";
  }

  #reopened(): void {
    if (this.onReopened) this.onReopened();
    else announce(text.corrections.reopened);
  }
}

/** Returns a name without the apostrophe that a report adds to formulas. */
function withoutApostrophe(name: string): string {
  return /^'+[=+\-@\t\r]/.test(name) ? name.slice(1) : name;
}

/** Corrections by job and attempt: those of one attempt are not pending in the next. */
const all = new Map<string, CorrectionUpload>();

/** Returns the corrections of a job's current attempt. */
export function correctionsOf({ jobId, attempts, source }: Job): CorrectionUpload {
  const name = `${jobId} ${attempts}`;
  const corrections =
    all.get(name) ?? new CorrectionUpload(jobId, source?.kind === "file" && source.reading != null);
  all.set(name, corrections);
  return corrections;
}

effect(() => {
  if (sessionState.value !== "signed-out") return;
  for (const corrections of all.values()) corrections.cancel();
  all.clear();
});
