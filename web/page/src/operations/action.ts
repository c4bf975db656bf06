/** The action of an operator on a list: its state, and what follows it. */

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { guarded } from "../api";
import type { List } from "../load";

/**
 * The state of an action. After the action, whatever came of it, the list is read again, and the heading gets the
 * focus: the focused button may disappear with its row.
 */
export function useAction<T>(list: Pick<List<unknown>, "refresh">, heading: RefObject<HTMLElement | null>) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [result, setResult] = useState<T | null>(null);
  const act = async (call: () => Promise<T>) => {
    setIsBusy(true);
    setError(null);
    setResult(null);
    await guarded(call).then(setResult, setError);
    setIsBusy(false);
    list.refresh();
    heading.current?.focus();
  };
  return { act, isBusy, error, result };
}
