// The API's calls about one upload.

import { json } from "../client.js";
import type { Send } from "../http.js";
import type { PartTicket, PartTickets, SingleUpload, UploadStatus } from "./contract.js";

export interface UploadCalls {
  status(): Promise<UploadStatus>;
  /** Another URL for a file that is put as a whole. */
  renew(): Promise<SingleUpload>;
  /** A URL for one part, which S3 takes only with the bytes of this SHA-256. */
  partTicket(partNumber: number, sha256: string): Promise<PartTicket>;
  /** Makes the file of its parts. `upload-incomplete` if some are missing. */
  complete(): Promise<UploadStatus>;
}

export function uploadCalls(send: Send, fileGuid: string, signal: AbortSignal | undefined): UploadCalls {
  const path = `/api/uploads/${encodeURIComponent(fileGuid)}`;
  const post = (action: string, body?: object) =>
    send({ method: "POST", path: `${path}/${action}`, body, signal, repeatable: true });
  return {
    status: () => json(send({ method: "GET", path, signal, repeatable: true })),
    renew: () => json(post("url")),
    partTicket: async (partNumber, sha256) => {
      const { parts } = await json<PartTickets>(post("url", { parts: [{ partNumber, sha256 }] }));
      const ticket = parts.find((part) => part.partNumber === partNumber);
      if (!ticket) throw new Error(`The API gave no URL for part ${partNumber}`);
      return ticket;
    },
    complete: () => json(post("complete")),
  };
}
