/** The upload of one file by the client package, as signals that views show. */

import { effect, signal } from "@preact/signals";
import { ProblemError } from "longshore-client";
import { OtherFileError, type ResumeState, type UploadOptions, upload } from "longshore-client/upload";
import { api } from "./api";
import { forgetUpload, rememberUpload, unfinishedUpload, uploadKey } from "./local-storage";
import { text } from "./text";

const GONE: ProblemError["kind"][] = ["not-found", "upload-abandoned", "already-uploaded", "file-gone"];

/** An upload of one file at a time. While bytes are sent, the browser asks before it leaves the page. */
export class Upload {
  /** The file that is sent; null before one is picked. */
  readonly file = signal<File | null>(null);
  readonly percent = signal(0);
  /** The file's id for a job; null until the upload has succeeded. */
  readonly fileGuid = signal<string | null>(null);
  readonly error = signal<unknown>(null);

  #stop = new AbortController();
  /** The file's key in the browser's memory. */
  #key = "";

  constructor(readonly fileTypes: readonly string[]) {}

  /** Returns the reason to refuse a file, or null. */
  refusal(file: File): string | null {
    if (file.size === 0) return text.file.empty;
    const extension = file.name.split(".").pop()?.toLowerCase() ?? "";
    const isAccepted = this.fileTypes.includes(`.${extension}`);
    return isAccepted ? null : text.file.wrongType(this.fileTypes, extension);
  }

  /** Starts to send a file instead of the previous one. */
  begin(file: File): void {
    this.remove();
    this.file.value = file;
    this.#key = uploadKey(file);
    addEventListener("beforeunload", this.#confirmLeave);
    void this.#send(file, this.#stop.signal);
  }

  /** Stops the upload and forgets the file. */
  remove(): void {
    removeEventListener("beforeunload", this.#confirmLeave);
    this.#stop.abort();
    this.#stop = new AbortController();
    this.file.value = null;
    this.fileGuid.value = null;
    this.error.value = null;
    this.percent.value = 0;
  }

  /** Resolves with the file's id once it is uploaded. Rejects with the upload's error, or with the signal's reason. */
  finished(signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const stop = effect(() => {
        if (this.fileGuid.value) resolve(this.fileGuid.value);
        else if (this.error.value) reject(this.error.value);
        else return;
        queueMicrotask(() => stop());
      });
      signal.addEventListener("abort", () => {
        reject(signal.reason);
        stop();
      });
    });
  }

  /** Removes a finished upload from the browser's memory: a job uses it, so a reload must not resume it. */
  forget(): void {
    if (this.fileGuid.value) forgetUpload(this.#key, this.fileGuid.value);
  }

  async #send(file: File, signal: AbortSignal): Promise<void> {
    const onProgress: UploadOptions["onProgress"] = ({ sentBytes, totalBytes }) => {
      // 100 only when S3 has confirmed the file.
      if (!signal.aborted) this.percent.value = Math.min(99, Math.floor((100 * sentBytes) / totalBytes));
    };
    try {
      const { fileGuid } = await send(file, this.#key, { signal, onProgress });
      if (signal.aborted) return;
      this.percent.value = 100;
      this.fileGuid.value = fileGuid;
    } catch (error) {
      if (signal.aborted) return;
      this.error.value = error;
    }
    removeEventListener("beforeunload", this.#confirmLeave);
  }

  #confirmLeave = (event: BeforeUnloadEvent) => event.preventDefault();
}

/** Sends a file. Resumes an unfinished upload of the same file, from this page or an earlier one. */
async function send(file: File, key: string, options: UploadOptions): Promise<{ fileGuid: string }> {
  const resume = unfinishedUpload(key);
  const fresh = { ...options, onBegun: (state: ResumeState) => rememberUpload(key, state) };
  try {
    return await upload(api, file, { ...fresh, resume });
  } catch (error) {
    if (!resume || !isGone(error)) throw error;
    return upload(api, file, fresh);
  }
}

/** Returns true if an upload cannot be resumed: it has expired or has another owner. */
function isGone(error: unknown): boolean {
  if (error instanceof OtherFileError) return true;
  return error instanceof ProblemError && (error.status === 404 || GONE.includes(error.kind));
}
