// Control of the client's timers in tests. Node's own timers, such as those of `fetch`, are unaffected.

import { vi } from "vitest";
import { until } from "./server.js";

/** Ends all sleeps of the client at once until the end of the test, for tests that do not measure time. */
export function skipSleeps(): void {
  const { setTimeout } = globalThis;
  vi.stubGlobal("setTimeout", (end: (...rest: unknown[]) => void, ms: number, ...rest: unknown[]) =>
    setTimeout(end, isSleep() ? 0 : ms, ...rest),
  );
}

/** Shortens all timeouts of the client to a hundredth until the end of the test, for tests of time limits. */
export function shortenTimeouts(): void {
  const { setTimeout } = globalThis;
  vi.stubGlobal("setTimeout", (end: (...rest: unknown[]) => void, ms: number, ...rest: unknown[]) =>
    setTimeout(end, isSetBy("timeout.ts") ? ms / 100 : ms, ...rest),
  );
}

export class Clock {
  #now = 0;
  readonly #pauses = new Map<object, { readonly due: number; readonly end: () => void }>();

  /** Replaces the global timers until the end of the test. */
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

  /** Returns true while the client sleeps. */
  get isSleeping(): boolean {
    return this.#pauses.size > 0;
  }

  /** Waits until the client sleeps, then advances the clock. */
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

/** Returns true if the client's sleep has set the timer. */
function isSleep(): boolean {
  return isSetBy("sleep.ts");
}

/** Returns true if this file of the client has set the timer: it is the client's first file in the stack. */
function isSetBy(file: string): boolean {
  return /\/src\/([\w-]+\.ts)/.exec(new Error().stack ?? "")?.[1] === file;
}
