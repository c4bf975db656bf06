/** Reading from the API for a view: once, or page by page. */

import { useEffect, useRef, useState } from "preact/hooks";
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
  /** After an error: reads again what could not be read. */
  reload: () => void;
}

/** One page of a list. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** How a list keeps up with what changes by itself. */
export interface LiveItems<T> {
  id: (item: T) => string;
  /** Whether an item will change. */
  isLive: (item: T) => boolean;
}

/** How often the first page of a live list is read anew, in milliseconds: a refresh, for each job has a view of its own. */
const REFRESH_MS = 5000;

/** Reads the first page when the view appears, and the next ones when asked. */
export function useList<T>(
  page: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  of: readonly unknown[],
  live?: LiveItems<T>,
): List<T> {
  const [read, setRead] = useState<Page<T> | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [loading, setLoading] = useState(false);
  // Of the list as it is now: aborted as soon as it is another one.
  const stop = useRef(new AbortController());
  const add = (cursor?: string) => {
    const { signal } = stop.current;
    setLoading(true);
    setError(null);
    guarded(() => page(cursor, signal))
      .then((next) => {
        if (!signal.aborted) setRead((read) => (cursor && read ? appended(read, next) : next));
      })
      .catch((error: unknown) => !signal.aborted && setError(error))
      .finally(() => !signal.aborted && setLoading(false));
  };
  useEffect(() => {
    stop.current = new AbortController();
    setRead(null);
    add();
    return () => stop.current.abort();
  }, of);
  const isLive = live !== undefined && (read?.items.some(live.isLive) ?? false);
  useEffect(() => {
    if (!live || !isLive) return;
    const { signal } = stop.current;
    let isAsking = false;
    const refresh = () => {
      if (document.hidden || isAsking) return;
      isAsking = true;
      guarded(() => page(undefined, signal))
        .then((first) => !signal.aborted && setRead((read) => read && mergeFirstPage(read, first, live.id)))
        // The next refresh may do better; what the person asks for tells what is wrong.
        .catch(() => {})
        .finally(() => {
          isAsking = false;
        });
    };
    const timer = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(timer);
  }, [...of, isLive]);
  const cursor = read?.nextCursor ?? undefined;
  const more = () => add(cursor);
  return {
    items: read?.items ?? null,
    error,
    hasMore: cursor !== undefined,
    loading: loading || (!read && !error),
    more,
    reload: more,
  };
}

function appended<T>(read: Page<T>, next: Page<T>): Page<T> {
  return { items: [...read.items, ...next.items], nextCursor: next.nextCursor };
}

/**
 * A list whose first page was read anew: that page as it is now, then what came after its last item. If none of it was known,
 * as much is new that the rest is to be read again, too.
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
