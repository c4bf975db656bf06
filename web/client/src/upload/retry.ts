// Trying again, for as long as it may help.

import { isTransient } from "../http.js";
import { backOffMs, sleepUntilWoken, waitUntilOnline } from "../sleep.js";
import { UploadError } from "./errors.js";

/** Some 15 seconds of refusals and faults. Time without a network does not count. */
const ATTEMPTS = 6;

/** Does a step until it succeeds, or fails for good. It must get itself a fresh URL each time: the last one may have ended. */
export async function withRetry<T>(signal: AbortSignal | undefined, step: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await step();
    } catch (error) {
      signal?.throwIfAborted();
      // S3 refuses nothing for good: a URL that has ended is a 403, bytes that were changed on their way a 400, an upload that
      // has come to its end a 404. Whether it was completed or given up then says the API, asked for the next URL.
      if (!(error instanceof UploadError || isTransient(error))) throw error;
      if (await waitUntilOnline(signal)) continue;
      if (++failures >= ATTEMPTS) throw error;
      await sleepUntilWoken(backOffMs(failures), signal);
    }
  }
}
