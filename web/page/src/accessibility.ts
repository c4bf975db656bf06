/**
 * Accessibility: announcements to screen readers, and the focus in views that replace a part of themselves,
 * and with it the focused element.
 */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/**
 * The sentence that a screen reader reads next. Shown in one polite live region for the whole page, for changes
 * that do not follow from a click.
 */
export const announcement = signal("");

/** Announces a sentence. The same sentence twice in a row is read once. */
export function announce(sentence: string): void {
  announcement.value = sentence;
}

/** Moves the focus whenever `what` changes, but not when the view appears. */
export function useFocusOnChange(what: unknown, to: () => HTMLElement | null): void {
  const before = useRef(what);
  useEffect(() => {
    if (before.current !== what) to()?.focus();
    before.current = what;
  }, [what]);
}
