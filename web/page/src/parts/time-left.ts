/** The displayed time left: never increases, and is hidden when it would be far from the estimate. */

/** Seconds by which the displayed time may be too short, however little is left. */
const SLACK_S = 15;

/** The displayed seconds, and whether to display them. */
export interface TimeLeft {
  seconds: number;
  isKnown: boolean;
}

/**
 * Returns the next displayed time after `shown`, for an estimate of `rest`. Stands still while the estimate
 * is higher; is unknown while the estimate is more than twice as high.
 */
export function timeLeft(shown: number, rest: number): TimeLeft {
  const seconds = Math.min(shown, Math.max(0, rest));
  return { seconds, isKnown: rest - seconds <= Math.max(SLACK_S, seconds) };
}
