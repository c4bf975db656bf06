/**
 * Corrected rows on their way back to a job: their upload, then the job's retry. Like an import that is being prepared
 * it goes on when its view is left, and is found again there.
 */

import { effect, signal } from "@preact/signals";
import { type Job, NetworkError } from "longshore-client";
import { announce } from "./announce";
import { api, guarded } from "./api";
import { sessionState } from "./session";
import { text } from "./text";
import { Upload } from "./upload";

/** What may be dropped. */
export const CORRECTION_TYPES = [".csv", ".txt"];

export class CorrectionUpload {
  readonly upload = new Upload(CORRECTION_TYPES);
  readonly stage = signal<"none" | "uploading" | "retrying">("none");
  readonly error = signal<unknown>(null);
  /** Called when the job may run again: by the view, as long as it is there. */
  onReopened: (() => void) | null = null;

  #pending = new AbortController();

  constructor(readonly jobId: string) {}

  /** Sends the file, and has its rows run. */
  async run(file: File): Promise<void> {
    const { signal } = this.#pending;
    const refusal = this.upload.refusal(file);
    this.error.value = refusal && new Error(refusal);
    if (refusal) return;
    this.stage.value = "uploading";
    try {
      const isThere = this.upload.file.value === file && this.upload.fileGuid.value;
      if (!isThere) this.upload.begin(file);
      const fileGuid = await this.upload.finished(signal);
      this.stage.value = "retrying";
      await guarded(() => api.retry(this.jobId, { fileGuid }));
      this.upload.forget();
      return this.#reopened();
    } catch (error) {
      if (signal.aborted) return;
      this.error.value = error;
      // Whether the retry has arrived, only the job can broadcast.
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

/** By job and attempt: what was mended in one is not pending in the next. */
const all = new Map<string, CorrectionUpload>();

/** What is being mended of a job's failed rows. */
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
