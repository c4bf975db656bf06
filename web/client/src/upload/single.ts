// Uploads in one PUT. S3 accepts a file once. If it is already there, an earlier PUT succeeded and lost its
// reply.

import { isKind } from "../problem.js";
import type { PresignedPut, UploadCalls } from "./calls.js";
import { UploadError } from "./errors.js";
import type { UploadOptions } from "./options.js";
import type { ProgressMeter } from "./progress-meter.js";
import { put } from "./put.js";
import { withRetry } from "./retry.js";

/** Sends the file with the first URL, if given, and with a new URL after a failure. */
export async function putWhole(
  calls: UploadCalls,
  first: PresignedPut | null,
  file: Blob,
  options: UploadOptions & { readonly onPartProgress: ProgressMeter },
): Promise<void> {
  let presigned = first;
  const onSent = (bytes: number) => options.onPartProgress(1, bytes);
  await withRetry(options.signal, async () => {
    try {
      const current = presigned ?? (await calls.presignFile());
      presigned = null;
      await put({ presigned: current, bytes: file, signal: options.signal, onSent, fetch: options.fetch });
    } catch (error) {
      if (!(await wasPutBefore(calls, error))) throw error;
      onSent(file.size);
    }
  });
}

async function wasPutBefore(calls: UploadCalls, error: unknown): Promise<boolean> {
  if (isKind(error, "already-uploaded")) return true;
  return error instanceof UploadError && error.status === 412 && (await calls.status()).state === "received";
}
