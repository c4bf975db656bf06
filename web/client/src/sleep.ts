// Waiting: how long, and how it ends early.

const FIRST_BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 30_000;

/** How long to sleep after so many failures in a row: doubling from half a second to 30 seconds, with jitter over its upper half. */
export function backOffMs(failures: number, random = Math.random): number {
  const full = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** failures);
  return full / 2 + (full / 2) * random();
}

/**
 * How long to sleep where an answer says so: what it says, and up to a fifth more, so that many pages do not ask at the same moment.
 * Between a second, or it would ask without a pause, and five minutes, for a browser's timers end at once beyond 24 days.
 */
export function retryAfterMs(seconds: number): number {
  return Math.min(300, Math.max(1, seconds)) * 1000 * (1 + Math.random() / 5);
}

/** Whether the page is in a tab that nobody sees. Always false where there is no page. */
export function isHidden(): boolean {
  return typeof document !== "undefined" && document.hidden;
}

/** Waits. Rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return sleepUntil(ms, signal, []);
}

/** Waits, but no longer than until the page comes back to the network or to the eye. */
export function sleepUntilWoken(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return sleepUntil(ms, signal, wakeEvents());
}

/** Waits until there is a network again; answers whether there was none. Where nothing tells (Node) it is taken to be there. */
export async function waitUntilOnline(signal: AbortSignal | undefined): Promise<boolean> {
  if (typeof navigator === "undefined" || navigator.onLine !== false) return false;
  while (!navigator.onLine) await sleepUntilWoken(LONGEST_BACK_OFF_MS, signal);
  return true;
}

type WakeEvent = readonly [target: EventTarget, event: string, wakes: () => boolean];

/** What ends a pause early: the network is back, or the tab is seen again. */
function wakeEvents(): WakeEvent[] {
  const list: WakeEvent[] = [];
  if (typeof addEventListener === "function")
    list.push([globalThis as unknown as EventTarget, "online", () => true]);
  if (typeof document !== "undefined") list.push([document, "visibilitychange", () => !document.hidden]);
  return list;
}

function sleepUntil(
  ms: number,
  signal: AbortSignal | undefined,
  wakeEvents: readonly WakeEvent[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const ended = new AbortController();
    const options = { signal: ended.signal };
    const end = (settle: () => void) => {
      clearTimeout(timer);
      ended.abort();
      settle();
    };
    const timer = setTimeout(() => end(resolve), ms);
    signal?.addEventListener("abort", () => end(() => reject(signal.reason)), options);
    for (const [target, event, wakes] of wakeEvents) {
      target.addEventListener(event, () => wakes() && end(resolve), options);
    }
  });
}
