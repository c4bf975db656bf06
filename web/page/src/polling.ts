/** Reads that are repeated while a view is visible. */

import { useEffect } from "preact/hooks";

/** The longest delay between two reads, in milliseconds. */
const MAX_DELAY_MS = 120_000;

/** Returns the delay until the next read: doubled for each failure in a row. */
export function pollDelayMs(everyMs: number, failures: number): number {
  return Math.min(everyMs * 2 ** failures, Math.max(MAX_DELAY_MS, everyMs));
}

/**
 * Repeats a read while the tab is visible, and more slowly while it fails. A hidden tab reads nothing; once it is
 * visible again, it reads at once what it has missed.
 *
 * @param everyMs The delay between two reads; null to read nothing.
 */
export function usePolling(
  read: (signal: AbortSignal) => Promise<void>,
  everyMs: number | null,
  deps: readonly unknown[],
): void {
  useEffect(() => (everyMs === null ? undefined : poll(read, everyMs)), [...deps, everyMs]);
}

/** Starts the reads, and returns a function that ends them. */
function poll(read: (signal: AbortSignal) => Promise<void>, everyMs: number): () => void {
  const stop = new AbortController();
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasMissed = false;
  const plan = () => {
    timer = setTimeout(() => void run(), pollDelayMs(everyMs, failures));
  };
  const run = async () => {
    hasMissed = document.hidden;
    if (hasMissed) return;
    failures = await read(stop.signal).then(
      () => 0,
      () => failures + 1,
    );
    if (!stop.signal.aborted) plan();
  };
  const wake = () => {
    if (hasMissed) void run();
  };
  document.addEventListener("visibilitychange", wake);
  plan();
  return () => {
    stop.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", wake);
  };
}
