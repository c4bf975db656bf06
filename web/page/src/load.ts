/** Hooks that read from the API for a view: once, or page by page. */

import { useEffect, useRef, useState } from "preact/hooks";
import { guarded } from "./api";
import { usePolling } from "./polling";

/** A value, or the error of reading it. */
export interface Loaded<T> {
  value: T | null;
  error: unknown;
  /** Reads the value again. */
  reload: () => void;
}

/** Reads when the view appears, and whenever `deps` change. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; error: unknown }>({ value: null, error: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState(({ value }) => ({ value: round === 0 ? null : value, error: null }));
    guarded(() => load(stop.signal))
      .then((value) => !stop.signal.aborted && setState({ value, error: null }))
      .catch((error: unknown) => !stop.signal.aborted && setState(({ value }) => ({ value, error })));
    return () => stop.abort();
  }, [...deps, round]);
  return { ...state, reload: () => setRound((round) => round + 1) };
}

/** The pages of a list that were read so far. */
export interface List<T> {
  items: T[] | null;
  error: unknown;
  hasMore: boolean;
  loading: boolean;
  more: () => void;
  /** Reads again after an error. */
  reload: () => void;
  /** Reads the first page again, and shows only that one. */
  refresh: () => void;
  /** The time of the last read of the first page; null before it. */
  readAt: number | null;
}

/** One page of a list. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** The items of a list that change on the server. */
export interface LiveItems<T> {
  id: (item: T) => string;
  /** Returns true if an item will still change. */
  isLive: (item: T) => boolean;
  /** True if items can be added at any time, so that an empty list is read again, too. */
  isOpen?: boolean;
  /** The refresh interval of the first page, in milliseconds, in place of the usual one. */
  everyMs?: number;
}

/**
 * The refresh interval of a live list's first page, in milliseconds. It can be slow: each job has its own
 * view.
 */
const REFRESH_MS = 5000;

/** Reads the page at a cursor, or the first page without one. */
type ReadPage<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>;

/** Reads the first page when the view appears, and further pages on request. */
export function useList<T>(page: ReadPage<T>, deps: readonly unknown[], live?: LiveItems<T>): List<T> {
  const [read, setRead] = useState<Page<T> | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [loading, setLoading] = useState(false);
  const [readAt, setReadAt] = useState<number | null>(null);
  // Belongs to the current list; aborted when the list changes.
  const stop = useRef(new AbortController());
  const add = (cursor?: string) => {
    const { signal } = stop.current;
    setLoading(true);
    setError(null);
    guarded(() => page(cursor, signal))
      .then((next) => {
        if (signal.aborted) return;
        setRead((read) => (cursor && read ? appended(read, next) : next));
        if (!cursor) setReadAt(Date.now());
      })
      .catch((error: unknown) => !signal.aborted && setError(error))
      .finally(() => !signal.aborted && setLoading(false));
  };
  useEffect(() => {
    stop.current = new AbortController();
    setRead(null);
    setReadAt(null);
    add();
    return () => stop.current.abort();
  }, deps);
  const isLive = live !== undefined && read !== null && (live.isOpen || read.items.some(live.isLive));
  // Errors are not shown: the next read may succeed, and reads that the user requests report theirs.
  usePolling(
    async (signal) => {
      const first = await guarded(() => page(undefined, signal));
      if (!live || signal.aborted) return;
      setRead((read) => read && mergeFirstPage(read, first, live.id));
      setReadAt(Date.now());
    },
    isLive ? (live.everyMs ?? REFRESH_MS) : null,
    deps,
  );
  const cursor = read?.nextCursor ?? undefined;
  const more = () => add(cursor);
  return {
    items: read?.items ?? null,
    error,
    hasMore: cursor !== undefined,
    loading: loading || (!read && !error),
    more,
    reload: more,
    refresh: () => add(),
    readAt,
  };
}

/**
 * Reads a list whose items come and change at any time: also refreshes its first page as long as the view is open,
 * even while the list is empty.
 *
 * @param everyMs The refresh interval, in milliseconds.
 */
export function useWatchedList<T>(
  page: ReadPage<T>,
  deps: readonly unknown[],
  id: (item: T) => string,
  everyMs = 30_000,
): List<T> {
  return useList(page, deps, { id, isLive: () => true, isOpen: true, everyMs });
}

function appended<T>(read: Page<T>, next: Page<T>): Page<T> {
  return { items: [...read.items, ...next.items], nextCursor: next.nextCursor };
}

/**
 * Merges a refreshed first page with the old items after its last item. If all of its items are new, the
 * following pages must be read again.
 */
export function mergeFirstPage<T>(read: Page<T>, first: Page<T>, id: (item: T) => string): Page<T> {
  const fresh = new Set(first.items.map(id));
  const last = read.items.findLastIndex((item) => fresh.has(id(item)));
  const rest = first.nextCursor === null || last < 0 ? [] : read.items.slice(last + 1);
  return {
    items: [...first.items, ...rest],
    nextCursor: rest.length > 0 ? read.nextCursor : first.nextCursor,
  };
}
