/** Focus where one part of a view takes the place of another: the one that had it is gone. */

import { useEffect, useRef } from "preact/hooks";

/** Moves the focus whenever `what` has changed; not when the view appears. */
export function useFocusOnChange(what: unknown, to: () => HTMLElement | null): void {
  const before = useRef(what);
  useEffect(() => {
    if (before.current !== what) to()?.focus();
    before.current = what;
  }, [what]);
}
