// Limits: how long something may take that might never end.

import { NetworkError } from "./problem.js";

/**
 * Does a step that gets a signal of its own. Rejects with the signal's reason as soon as it aborts, and with a `NetworkError`
 * once the time is over, also where the step itself heeds no signal.
 */
export async function withTimeout<T>(
  ms: number,
  signal: AbortSignal | undefined,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason));
  });
  const late = () => stop.abort(new NetworkError(`No answer within ${Math.round(ms / 1000)} s`));
  const timer = setTimeout(late, ms);
  signal?.addEventListener("abort", abort);
  try {
    return await Promise.race([step(stop.signal), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
