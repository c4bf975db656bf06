/** Focus management for views that replace a part of themselves, and with it the focused element. */

import { useEffect, useRef } from "preact/hooks";

/** Moves the focus whenever `what` changes, but not when the view appears. */
export function useFocusOnChange(what: unknown, to: () => HTMLElement | null): void {
  const before = useRef(what);
  useEffect(() => {
    if (before.current !== what) to()?.focus();
    before.current = what;
  }, [what]);
}
