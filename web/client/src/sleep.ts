// Sleeping: durations, and events that end a sleep early.

const FIRST_BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 30_000;

/**
 * The delay after a number of consecutive failures: exponential from half a second to 30 seconds, with jitter
 * in its upper half.
 */
export function backOffMs(failures: number, random = Math.random): number {
  const full = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** failures);
  return full / 2 + (full / 2) * random();
}

/**
 * The delay for a `Retry-After`, extended by up to a fifth so that many pages do not call at the same moment.
 * At least a second, to avoid a busy loop. At most five minutes, since browser timers overflow beyond 24
 * days.
 */
export function retryAfterMs(seconds: number): number {
  return Math.min(300, Math.max(1, seconds)) * 1000 * (1 + Math.random() / 5);
}

/** Returns true if the page is in a hidden tab. Always false outside a page. */
export function isHidden(): boolean {
  return typeof document !== "undefined" && document.hidden;
}

/** Sleeps. Rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return sleepUntil(ms, signal, []);
}

/** Sleeps. Ends early when the network returns or the tab becomes visible. */
export function sleepUntilWoken(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return sleepUntil(ms, signal, wakeEvents());
}

/**
 * Waits until there is a network. Returns true if there was none before. Where the state is unknown (Node),
 * assumes that there is one.
 */
export async function waitUntilOnline(signal: AbortSignal | undefined): Promise<boolean> {
  if (typeof navigator === "undefined" || navigator.onLine !== false) return false;
  while (!navigator.onLine) await sleepUntilWoken(LONGEST_BACK_OFF_MS, signal);
  return true;
}

type WakeEvent = readonly [target: EventTarget, event: string, wakes: () => boolean];

/** The events that end a sleep early: the network returns, or the tab becomes visible. */
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
