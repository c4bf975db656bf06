/** The displayed time left. Never increases; hidden while it is far below the estimate. */

/** Seconds by which the displayed time can always be below the estimate. */
const SLACK_S = 15;

/** The displayed seconds, and whether to display them. */
export interface TimeLeft {
  seconds: number;
  isKnown: boolean;
}

/**
 * Returns the next displayed time after `shown`. It stays the same while the estimate is higher, and is
 * unknown while the estimate is more than twice as high.
 */
export function timeLeft(shown: number, estimate: number): TimeLeft {
  const seconds = Math.min(shown, Math.max(0, estimate));
  return { seconds, isKnown: estimate - seconds <= Math.max(SLACK_S, seconds) };
}
