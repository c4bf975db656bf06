// What the API says of uploads.

import type { CallOptions } from "../http.js";

/** Where to put a file or a part of it, and with which headers: they are signed, as is the length. */
export interface Ticket {
  readonly method: "PUT";
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** When the URL ends, in RFC 3339. */
  readonly expiresAt: string;
}

export interface PartTicket extends Ticket {
  /** From 1. */
  readonly partNumber: number;
  readonly size: number;
}

/** A file that is put as a whole. */
export interface SingleUpload extends Ticket {
  readonly fileGuid: string;
}

/** A file that is put part by part: `partSize` bytes each, the last one what is left. */
export interface MultipartUpload {
  readonly fileGuid: string;
  readonly partSize: number;
  readonly parts: readonly { readonly partNumber: number; readonly size: number }[];
}

/** Where to put the parts that were asked for. */
export interface PartTickets {
  readonly parts: readonly PartTicket[];
}

export interface ReceivedPart {
  readonly partNumber: number;
  readonly size: number;
  /** In base64 or hexadecimal, if the part was put with one. */
  readonly sha256?: string | null;
}

/** An upload as it stands. */
export interface UploadStatus {
  readonly fileGuid: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly size: number;
  readonly state: "waiting" | "received";
  readonly expiresAt: string;
  /** Of an upload in parts that waits for them. */
  readonly partSize?: number | null;
  readonly receivedParts?: readonly ReceivedPart[] | null;
}

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
