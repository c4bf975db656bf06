// Options, progress and resumable state of an upload. Its progress is the sum over all parts.

import type { CallOptions } from "../http.js";

/** The state of an unfinished upload. A page stores it (as JSON) to resume the upload after a reload. */
export interface ResumeState {
  readonly fileGuid: string;
  readonly fileName: string;
  readonly size: number;
  /** The date of a `File`; `null` for a `Blob`. */
  readonly lastModified: number | null;
}

export interface Progress {
  /** Never decreases. */
  readonly sentBytes: number;
  readonly totalBytes: number;
}

export interface UploadOptions extends CallOptions {
  /** By default the name of the `File`. */
  readonly fileName?: string;
  /** By default the type of the `File`, or CSV or JSON Lines by its name. */
  readonly contentType?: string;
  /** The state of an earlier upload of the same file. */
  readonly resume?: ResumeState | null | undefined;
  /** Called once the upload has an id, before any byte is sent. Store the state to resume later. */
  readonly onBegun?: (state: ResumeState) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Concurrent parts; 3 by default. */
  readonly partsAtOnce?: number;
  /**
   * SHA-256 of the whole file, in hexadecimal or base64, which S3 verifies. Refused for files that are sent
   * in parts.
   */
  readonly sha256?: string;
  /** Replaces `XMLHttpRequest` and the global `fetch`. Reports no progress within a part. */
  readonly fetch?: typeof fetch;
  /** The key of the request that creates the upload. By default each call has a new one. */
  readonly idempotencyKey?: string;
}

/** Records the bytes sent of one part. */
export type ProgressMeter = (partNumber: number, bytes: number) => void;

/** Reports the sum whenever it reaches a new maximum. A part that starts again does not reduce it. */
export function progressMeter(
  totalBytes: number,
  onProgress: ((progress: Progress) => void) | undefined,
): ProgressMeter {
  const sent = new Map<number, number>();
  let highest = 0;
  return (partNumber, bytes) => {
    sent.set(partNumber, bytes);
    // The bytes on the wire may exceed the file's size; the reported bytes must not.
    const sentBytes = Math.min(
      totalBytes,
      [...sent.values()].reduce((sum, part) => sum + part, 0),
    );
    if (sentBytes <= highest) return;
    highest = sentBytes;
    onProgress?.({ sentBytes, totalBytes });
  };
}
