// Following a job: asks as often as the API says, tells what has changed, and never tells of less than it told before.

import { hasEnded, type Job, type VersionedJob } from "./documents.js";
import { type CallOptions, mayPass, type Send } from "./http.js";
import { backOffMs, isHidden, rest, retryAfterMs, wait } from "./pause.js";
import { ProblemError, secondsOf } from "./problem.js";

/** Where an answer does not say when to ask again. */
const USUAL_S = 1;
/** In a tab that nobody sees: so many times less often, up to the limit. */
const HIDDEN_FACTOR = 5;
const HIDDEN_LIMIT_MS = 60_000;

/** Follows the job at `path` until it has a final status. Refusals that do not pass are thrown: 401, 403, 404. */
export async function* watch(
  send: Send,
  path: string,
  { signal }: CallOptions = {},
): AsyncGenerator<VersionedJob, void, undefined> {
  let told: VersionedJob | undefined;
  for (let failures = 0; ; ) {
    try {
      const headers = { "if-none-match": told?.etag ?? undefined };
      const answer = await send({ method: "GET", path, headers, signal, repeatable: false });
      const job = await read(answer);
      if (job && (!told || isNews(job, told))) {
        told = job;
        yield job;
        if (hasEnded(job)) return;
      }
      failures = 0;
      const ms = retryAfterMs(secondsOf(answer) ?? USUAL_S);
      await wait(ms, signal);
      if (isHidden()) await rest(hiddenMs(ms), signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayPass(error)) throw error;
      if (error instanceof ProblemError && error.retryAfter)
        await wait(retryAfterMs(error.retryAfter), signal);
      else await rest(backOffMs(failures++), signal);
    }
  }
}

/**
 * Whether `next` tells more than `told`: something has changed, and nothing went back. A copy of an older state is no news, a final
 * status always is.
 */
function isNews(next: Job, told: Job): boolean {
  if (next.attempts !== told.attempts) return next.attempts > told.attempts;
  // Also one that seems older: the clock of the machine that ended the job may be behind.
  if (hasEnded(next)) return true;
  if (next.itemProgress < told.itemProgress || next.percent < told.percent) return false;
  if (Date.parse(next.updatedAt) < Date.parse(told.updatedAt)) return false;
  return JSON.stringify({ ...next, etag: null }) !== JSON.stringify({ ...told, etag: null });
}

async function read(answer: Response): Promise<VersionedJob | undefined> {
  if (answer.status === 304) return undefined;
  return { ...((await answer.json()) as Job), etag: answer.headers.get("etag") };
}

/** How much longer a hidden tab waits. */
function hiddenMs(ms: number): number {
  return Math.max(0, Math.min(ms * HIDDEN_FACTOR, HIDDEN_LIMIT_MS) - ms);
}
