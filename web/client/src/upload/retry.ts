// Retries of an upload's steps.

import { isTransient } from "../http.js";
import { backOffMs, sleepUntilWoken, waitUntilOnline } from "../sleep.js";
import { UploadError } from "./errors.js";

/** Some 15 seconds of refusals and server errors. Time without a network does not count. */
const ATTEMPTS = 6;

/**
 * Repeats a step until it succeeds or fails permanently. The step must request a new URL each time, since the
 * last one may have expired.
 */
export async function withRetry<T>(signal: AbortSignal | undefined, step: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await step();
    } catch (error) {
      signal?.throwIfAborted();
      // No refusal by S3 is permanent: an expired URL is a 403, corrupted bytes a 400, an ended upload a 404.
      // The next request for a URL shows if the upload was completed or abandoned.
      if (!(error instanceof UploadError || isTransient(error))) throw error;
      if (await waitUntilOnline(signal)) continue;
      if (++failures >= ATTEMPTS) throw error;
      await sleepUntilWoken(backOffMs(failures), signal);
    }
  }
}
