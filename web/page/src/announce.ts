/** One polite live region for the whole page, for changes that do not follow from a click. */

import { signal } from "@preact/signals";

/** The sentence that a screen reader reads next. */
export const announcement = signal("");

/** Announces a sentence. The same sentence twice in a row is read once. */
export function announce(sentence: string): void {
  announcement.value = sentence;
}
