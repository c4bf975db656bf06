// Following a job: asks as often as the API says, tells what has changed, and never tells of less than it latest before.

import { hasEnded, type Job, type VersionedJob } from "./documents.js";
import { type CallOptions, isTransient, type Send } from "./http.js";
import { ProblemError, retryAfterSeconds } from "./problem.js";
import { backOffMs, isHidden, retryAfterMs, sleep, sleepUntilWoken } from "./sleep.js";

/** Where an response does not say when to ask again. */
const DEFAULT_INTERVAL_S = 1;
/** In a tab that nobody sees: so many times less often, up to the limit. */
const HIDDEN_FACTOR = 5;
const HIDDEN_LIMIT_MS = 60_000;

/** Follows the job at `path` until it has a final status. Refusals that do not pass are thrown: 401, 403, 404. */
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
 * Whether `next` tells more than `latest`: something has changed, and nothing went back. A copy of an older state is no news, a final
 * status always is.
 */
function isNewer(next: Job, latest: Job): boolean {
  if (next.attempts !== latest.attempts) return next.attempts > latest.attempts;
  // Also one that seems older: the clock of the machine that ended the job may be behind.
  if (hasEnded(next)) return true;
  if (next.itemProgress < latest.itemProgress || next.percent < latest.percent) return false;
  if (Date.parse(next.updatedAt) < Date.parse(latest.updatedAt)) return false;
  return JSON.stringify({ ...next, etag: null }) !== JSON.stringify({ ...latest, etag: null });
}

async function read(response: Response): Promise<VersionedJob | undefined> {
  if (response.status === 304) return undefined;
  return { ...((await response.json()) as Job), etag: response.headers.get("etag") };
}

/** How much longer a hidden tab waits. */
function hiddenMs(ms: number): number {
  return Math.max(0, Math.min(ms * HIDDEN_FACTOR, HIDDEN_LIMIT_MS) - ms);
}
