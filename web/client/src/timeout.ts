// Time limits.

import { NetworkError } from "./problem.js";

/**
 * Runs a step with a signal of its own. Rejects with the outer signal's reason when it aborts, and with a
 * `NetworkError` after the time limit, even if the step ignores its signal.
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
