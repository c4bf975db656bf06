/** The upload of a sample, which shows what a large file is before the file itself is uploaded. */

import { signal } from "@preact/signals";
import { upload } from "longshore-client/upload";
import { api } from "./api";

export class Sample {
  /** The sample's id; null until it is uploaded. */
  readonly fileGuid = signal<string | null>(null);
  /** True if the upload failed. The file is then inspected once it is uploaded. */
  readonly isFailed = signal(false);

  #stop = new AbortController();

  constructor(file: File) {
    void this.#send(file, this.#stop.signal);
  }

  close(): void {
    this.#stop.abort();
  }

  async #send(file: File, signal: AbortSignal): Promise<void> {
    try {
      const { fileGuid } = await upload(api, file, { signal });
      if (!signal.aborted) this.fileGuid.value = fileGuid;
    } catch {
      if (!signal.aborted) this.isFailed.value = true;
    }
  }
}
