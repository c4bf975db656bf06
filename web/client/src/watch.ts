// Watching a job: polls at the API's interval and yields changes. Progress never goes backwards.

import { hasEnded, type Job, type VersionedJob } from "./documents.js";
import { type CallOptions, isTransient, type Send } from "./http.js";
import { ProblemError, retryAfterSeconds } from "./problem.js";
import { backOffMs, isHidden, retryAfterMs, sleep, sleepUntilWoken } from "./sleep.js";

/** The interval without a `Retry-After`. */
const DEFAULT_INTERVAL_S = 1;
/** Hidden tabs poll less often by this factor, up to the limit. */
const HIDDEN_FACTOR = 5;
const HIDDEN_LIMIT_MS = 60_000;

/** Yields the job at `path` until it has a final status. Throws permanent refusals: 401, 403, 404. */
export async function* watch(
  send: Send,
  path: string,
  { signal }: CallOptions = {},
): AsyncGenerator<VersionedJob, void, undefined> {
  let latest: VersionedJob | undefined;
  for (let failures = 0; ; ) {
    try {
      const headers = { "if-none-match": latest?.etag ?? undefined };
      const response = await send({ method: "GET", path, headers, signal, repeatable: false });
      const job = await read(response);
      if (job && (!latest || isNewer(job, latest))) {
        latest = job;
        yield job;
        if (hasEnded(job)) return;
      }
      failures = 0;
      const ms = retryAfterMs(retryAfterSeconds(response) ?? DEFAULT_INTERVAL_S);
      await sleep(ms, signal);
      if (isHidden()) await sleepUntilWoken(hiddenMs(ms), signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTransient(error)) throw error;
      if (error instanceof ProblemError && error.retryAfter)
        await sleep(retryAfterMs(error.retryAfter), signal);
      else await sleepUntilWoken(backOffMs(failures++), signal);
    }
  }
}

/**
 * Returns true if `next` has changed and has not gone backwards. A stale copy is not newer; a final status
 * always is.
 */
function isNewer(next: Job, latest: Job): boolean {
  if (next.attempts !== latest.attempts) return next.attempts > latest.attempts;
  // Even if it seems older: the clock of the machine that ended the job may be slow.
  if (hasEnded(next)) return true;
  if (next.itemProgress < latest.itemProgress || next.percent < latest.percent) return false;
  if (Date.parse(next.updatedAt) < Date.parse(latest.updatedAt)) return false;
  return JSON.stringify({ ...next, etag: null }) !== JSON.stringify({ ...latest, etag: null });
}

async function read(response: Response): Promise<VersionedJob | undefined> {
  if (response.status === 304) return undefined;
  return { ...((await response.json()) as Job), etag: response.headers.get("etag") };
}

/** The additional delay of a hidden tab. */
function hiddenMs(ms: number): number {
  return Math.max(0, Math.min(ms * HIDDEN_FACTOR, HIDDEN_LIMIT_MS) - ms);
}
