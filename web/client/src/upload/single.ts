// A file that is put as a whole. S3 takes it once: whoever finds it there has put it before, and lost the reply.

import { isKind } from "../problem.js";
import type { Ticket, UploadCalls } from "./calls.js";
import { UploadError } from "./errors.js";
import { insist } from "./insist.js";
import type { Meter } from "./meter.js";
import type { UploadOptions } from "./options.js";
import { put } from "./put.js";

/** Puts the file by `first`, and by a renewed URL where there is none or it failed. */
export async function putWhole(
  calls: UploadCalls,
  first: Ticket | null,
  file: Blob,
  options: UploadOptions & { readonly meter: Meter },
): Promise<void> {
  let ticket = first;
  const onSent = (bytes: number) => options.meter(1, bytes);
  await insist(options.signal, async () => {
    try {
      const current = ticket ?? (await calls.renew());
      ticket = null;
      await put({ ticket: current, bytes: file, signal: options.signal, onSent, fetch: options.fetch });
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
