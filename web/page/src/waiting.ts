/** The words for a job that waits for its handler. */

import type { WaitingReason } from "longshore-client";
import { text } from "./text";

/** Returns title and explanation of a reason. A newer deployment can have other reasons. */
export function waitingWords(reason: WaitingReason): [string, string] {
  const { reasons, unknown } = text.waiting;
  return Object.hasOwn(reasons, reason) ? (reasons[reason] ?? unknown) : unknown;
}

/** Returns the address of the runbook's section about a reason; without a URL, its place in the repository. */
export function runbookSection(url: string | null, reason: WaitingReason): string {
  return `${url ?? "docs/runbook.md"}#${reason}`;
}

/** Returns the time until the next try as text; null if it is not known. */
export function nextTry(at: string | null | undefined, now: number): string | null {
  const ms = at ? Date.parse(at) - now : Number.NaN;
  if (Number.isNaN(ms)) return null;
  const seconds = Math.round(ms / 1000);
  return seconds < 1 ? text.waiting.nextSoon : text.waiting.next(seconds);
}
