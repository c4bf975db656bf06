// Trying again, for as long as it may help.

import { isPassing } from "../http.js";
import { backOffMs, onceOnline, rest } from "../pause.js";
import { NetworkError } from "../problem.js";
import { UploadError } from "./errors.js";

/** Some 15 seconds of S3's refusals. Time without a network does not count. */
const ATTEMPTS = 6;

/** Does a step until it succeeds, or fails for good. It must get itself a fresh URL each time: the last one may have ended. */
export async function insist<T>(signal: AbortSignal | undefined, step: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await step();
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayPass(error)) throw error;
      if (await onceOnline(signal)) continue;
      if (++failures >= ATTEMPTS) throw error;
      await rest(backOffMs(failures), signal);
    }
  }
}

/** A URL that has ended is a 403, bytes that were changed on their way a 400. A 404 is an upload that was given up. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof NetworkError ||
    isPassing(error) ||
    (error instanceof UploadError && error.status !== 404)
  );
}
