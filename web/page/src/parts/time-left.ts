/** The rule of the time left that is shown: it never rises, and it is not shown where it would be far from what is known. */

/** Seconds by which what is shown may be short of the truth, however little is left. */
const SLACK_S = 15;

/** Seconds that are shown, and whether they are worth showing. */
export interface TimeLeft {
  seconds: number;
  isKnown: boolean;
}

/**
 * What is shown after `shown` when the job says `rest`. Where it says more, what is shown stands until the rest has caught up;
 * where it says more than twice as much, nothing is known.
 */
export function timeLeft(shown: number, rest: number): TimeLeft {
  const seconds = Math.min(shown, Math.max(0, rest));
  return { seconds, isKnown: rest - seconds <= Math.max(SLACK_S, seconds) };
}
