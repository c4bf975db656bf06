// The API's calls about one upload.

import { json } from "../client.js";
import type { Upload, UploadInParts, UploadPart, UploadStatus } from "../documents.js";
import type { Send } from "../http.js";

/** Where to put a file or a part of it, and with which headers: they are signed, as is the length. */
export type PresignedPut = Pick<Upload, "method" | "url" | "headers">;

export interface UploadCalls {
  status(): Promise<UploadStatus>;
  /** Another URL for a file that is put as a whole. */
  presignFile(): Promise<PresignedPut>;
  /** A URL for one part, which S3 takes only with the bytes of this SHA-256. */
  presignPart(partNumber: number, sha256: string, signal: AbortSignal): Promise<PresignedPut>;
  /** Makes the file of its parts. `upload-incomplete` if some are missing. */
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
      const wanted = { parts: [{ partNumber, sha256 }] };
      const { parts } = await json<UploadInParts>(post("url", wanted, signal));
      const part = parts.find((part) => part.partNumber === partNumber);
      if (!part?.url) throw new Error(`The API gave no URL for part ${partNumber}`);
      return part as Required<UploadPart>;
    },
    complete: () => json(post("complete")),
  };
}
