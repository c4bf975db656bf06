/** Reading from the API for a view: once, or page by page. */

import { useEffect, useState } from "preact/hooks";
import { guarded } from "./api";

/** What was read, or why not. */
export interface Loaded<T> {
  value: T | null;
  error: unknown;
  /** Reads it again. */
  reload: () => void;
}

/** Reads when the view appears and whenever `of` changes. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, of: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; error: unknown }>({ value: null, error: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState(({ value }) => ({ value: round === 0 ? null : value, error: null }));
    guarded(() => load(stop.signal))
      .then((value) => !stop.signal.aborted && setState({ value, error: null }))
      .catch((error: unknown) => !stop.signal.aborted && setState(({ value }) => ({ value, error })));
    return () => stop.abort();
  }, [...of, round]);
  return { ...state, reload: () => setRound((round) => round + 1) };
}

/** A list as far as it was read. */
export interface List<T> {
  items: T[] | null;
  error: unknown;
  hasMore: boolean;
  loading: boolean;
  more: () => void;
  reload: () => void;
}

/** One page of a list. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** Reads the first page when the view appears, and the next ones when asked. */
export function useList<T>(
  page: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  of: readonly unknown[],
): List<T> {
  const [rest, setRest] = useState<Page<T>[]>([]);
  const [loading, setLoading] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const first = useLoad((signal) => page(undefined, signal), of);
  useEffect(() => setRest([]), [first.value]);
  const cursor = (rest.at(-1) ?? first.value)?.nextCursor ?? undefined;
  const more = () => {
    setLoading(true);
    setError(null);
    guarded(() => page(cursor, new AbortController().signal))
      .then((next) => setRest((rest) => [...rest, next]))
      .catch(setError)
      .finally(() => setLoading(false));
  };
  return {
    items: first.value && [first.value, ...rest].flatMap(({ items }) => items),
    error: first.error ?? error,
    hasMore: cursor !== undefined,
    loading: loading || (!first.value && !first.error),
    more,
    reload: first.reload,
  };
}
