// Time that a test lets pass: the client's pauses end by it, while Node's own timers (those of `fetch`, too) go on as ever.

import { vi } from "vitest";
import { until } from "./server.js";

/** For tests that do not look at time: the client's pauses end at once, until the test ends. */
export function skipSleeps(): void {
  const { setTimeout } = globalThis;
  vi.stubGlobal("setTimeout", (end: (...rest: unknown[]) => void, ms: number, ...rest: unknown[]) =>
    setTimeout(end, isSleep() ? 0 : ms, ...rest),
  );
}

/** For tests of limits: a second of them takes ten milliseconds, until the test ends. */
export function shortenTimeouts(): void {
  const { setTimeout } = globalThis;
  vi.stubGlobal("setTimeout", (end: (...rest: unknown[]) => void, ms: number, ...rest: unknown[]) =>
    setTimeout(end, isSetBy("timeout.ts") ? ms / 100 : ms, ...rest),
  );
}

export class Clock {
  #now = 0;
  readonly #pauses = new Map<object, { readonly due: number; readonly end: () => void }>();

  /** Takes the place of the global timers until the test ends. */
  constructor() {
    const { setTimeout, clearTimeout } = globalThis;
    vi.stubGlobal("setTimeout", (end: (...rest: unknown[]) => void, ms: number, ...rest: unknown[]) => {
      if (!isSleep()) return setTimeout(end, ms, ...rest);
      const pause = {};
      this.#pauses.set(pause, { due: this.#now + ms, end });
      return pause;
    });
    vi.stubGlobal("clearTimeout", (timer: NodeJS.Timeout) => {
      if (!this.#pauses.delete(timer)) clearTimeout(timer);
    });
  }

  /** Whether the client waits. */
  get isSleeping(): boolean {
    return this.#pauses.size > 0;
  }

  /** Waits for a pause to begin, then lets so many milliseconds pass. */
  async pass(ms: number): Promise<void> {
    await until(() => this.isSleeping);
    const end = this.#now + ms;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      const [pause, { due, end: wake }] = next;
      this.#now = due;
      this.#pauses.delete(pause);
      wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = end;
  }

  #next(latest: number) {
    const due = [...this.#pauses].filter(([, pause]) => pause.due <= latest);
    return due.sort(([, a], [, b]) => a.due - b.due)[0];
  }
}

/** Whether the client's own waiting has set the timer. */
function isSleep(): boolean {
  return isSetBy("sleep.ts");
}

/** Whether the timer was set in this file of the client: of its files, that is the first in the stack. */
function isSetBy(file: string): boolean {
  return /\/src\/([\w-]+\.ts)/.exec(new Error().stack ?? "")?.[1] === file;
}
