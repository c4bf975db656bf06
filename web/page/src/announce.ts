/** One polite live region for the whole page: what changes without a click is said there, and not too often. */

import { signal } from "@preact/signals";

/** What a screen reader says next. */
export const announcement = signal("");

/** Says it. The same text twice is said once. */
export function announce(sentence: string): void {
  announcement.value = sentence;
}
