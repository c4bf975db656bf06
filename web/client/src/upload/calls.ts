// The API's calls for one upload.

import { json } from "../answers.js";
import type { Upload, UploadInParts, UploadPart, UploadStatus } from "../documents.js";
import type { Send } from "../http.js";

/** A presigned PUT of a file or a part. Its headers are signed, as is the length. */
export type PresignedPut = Pick<Upload, "method" | "url" | "headers">;

export interface UploadCalls {
  status(): Promise<UploadStatus>;
  /** Returns a new URL for a file that is sent in one PUT. */
  presignFile(): Promise<PresignedPut>;
  /** Returns a URL for one part. S3 accepts only bytes with this SHA-256. */
  presignPart(partNumber: number, sha256: string, signal: AbortSignal): Promise<PresignedPut>;
  /** Assembles the file from its parts. Fails with `upload-incomplete` if some are missing. */
  complete(): Promise<UploadStatus>;
}

export function uploadCalls(send: Send, fileGuid: string, signal: AbortSignal | undefined): UploadCalls {
  const path = `/api/uploads/${encodeURIComponent(fileGuid)}`;
  const post = (action: string, body?: object, until = signal) =>
    send({ method: "POST", path: `${path}/${action}`, body, signal: until, repeatable: true });
  return {
    status: () => json(send({ method: "GET", path, signal, repeatable: true })),
    presignFile: () => json(post("url")),
    presignPart: async (partNumber, sha256, signal) => {
      const request = { parts: [{ partNumber, sha256 }] };
      const { parts } = await json<UploadInParts>(post("url", request, signal));
      const part = parts.find((part) => part.partNumber === partNumber);
      if (!part?.url) throw new Error(`The API returned no URL for part ${partNumber}`);
      return part as Required<UploadPart>;
    },
    complete: () => json(post("complete")),
  };
}
