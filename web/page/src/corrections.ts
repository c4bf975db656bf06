/**
 * Corrected rows of a job: their upload, then the job's retry. Both continue while the user looks at another
 * view.
 */

import { effect, signal } from "@preact/signals";
import { type Job, NetworkError } from "longshore-client";
import { announce } from "./accessibility";
import { api, guarded } from "./api";
import { sessionState } from "./session";
import { text } from "./text";
import { Upload } from "./upload";

/** The accepted file types: a table, as spreadsheet programs save it, or compressed. */
export const CORRECTION_TYPES = [".csv", ".txt", ".xlsx", ".gz", ".zst", ".zip"];

export class CorrectionUpload {
  readonly upload = new Upload(CORRECTION_TYPES);
  readonly stage = signal<"none" | "uploading" | "retrying">("none");
  readonly error = signal<unknown>(null);
  /** Called when the job may be running again. Set by the job's view while it is shown. */
  onReopened: (() => void) | null = null;

  #pending = new AbortController();

  constructor(readonly jobId: string) {}

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

/** Corrections by job and attempt: those of one attempt are not pending in the next. */
const all = new Map<string, CorrectionUpload>();

/** Returns the corrections of a job's current attempt. */
export function correctionsOf({ jobId, attempts }: Job): CorrectionUpload {
  const name = `${jobId} ${attempts}`;
  const corrections = all.get(name) ?? new CorrectionUpload(jobId);
  all.set(name, corrections);
  return corrections;
}

effect(() => {
  if (sessionState.value !== "signed-out") return;
  for (const corrections of all.values()) corrections.cancel();
  all.clear();
});
