// What a caller says of an upload, and is told of it.

import type { CallOptions } from "../http.js";

/** What a page keeps (as JSON) to go on with an upload after it was loaded anew. */
export interface ResumeState {
  readonly fileGuid: string;
  readonly fileName: string;
  readonly size: number;
  /** Of a `File`; `null` of a `Blob`. */
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
  /** By default that of the `File`, or CSV or JSON Lines by the name. */
  readonly contentType?: string;
  /** An upload that was begun before with the same file. */
  readonly resume?: ResumeState | null | undefined;
  /** Called once the upload has a name, before a byte is sent: keep the state to resume with it. */
  readonly onBegun?: (state: ResumeState) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Parts that are sent at the same time; 3 by default. */
  readonly partsAtOnce?: number;
  /** SHA-256 of the whole file, in hexadecimal or base64, for S3 to check. Refused for files so large that they go in parts. */
  readonly sha256?: string;
  /** Instead of `XMLHttpRequest` or the global `fetch`; it tells no progress within a part. */
  readonly fetch?: typeof fetch;
  /** Of the creation of the upload. By default a fresh one for each call. */
  readonly idempotencyKey?: string;
}
