/** Inspections of one upload: the latest answer wins, and the last one is kept until then. */

import { effect, signal } from "@preact/signals";
import { type Inspection, type InspectRequest, ProblemError } from "longshore-client";
import { api, guarded } from "./api";

/** Time without a further change after which a changed request is sent. */
const DEBOUNCE_MS = 300;
/** The longest wait for the server's `Retry-After`, in seconds. */
const LONGEST_WAIT_S = 300;

/** An answer with its request. */
export interface Found {
  request: InspectRequest;
  answer: Inspection;
}

export class Inspector {
  readonly found = signal<Found | null>(null);
  /** The error of the last call; null while a call is in progress. */
  readonly error = signal<unknown>(null);
  /** True while there is a request without an answer. */
  readonly isPending = signal(false);

  /** Stops the call, or the wait before it. */
  #stop = new AbortController();
  #asked = "";
  #fileGuid = "";
  #request: InspectRequest = {};

  /** Sends a request, unless it is the last one. Changes of the user are sent after a pause. */
  ask(fileGuid: string, request: InspectRequest): void {
    const asked = JSON.stringify([fileGuid, request]);
    if (asked === this.#asked) return;
    // A request that follows from an answer is sent at once.
    const isChange = this.#asked !== "" && !this.#isAnswering;
    this.#asked = asked;
    this.#fileGuid = fileGuid;
    this.#request = request;
    this.#begin(isChange ? DEBOUNCE_MS : 0);
  }

  /** Sends the last request again after an error. */
  again(): void {
    if (this.#asked !== "") this.#begin(0);
  }

  /** Resolves once the last request has its answer. Rejects with its error, or with the signal's reason. */
  answered(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = effect(() => {
        if (this.error.value) reject(this.error.value);
        else if (this.found.value && !this.isPending.value) resolve();
        else return;
        queueMicrotask(() => stop());
      });
      signal.addEventListener("abort", () => {
        reject(signal.reason);
        stop();
      });
    });
  }

  close(): void {
    this.#stop.abort();
    this.isPending.value = false;
  }

  /** True while an answer is stored, so that a request that depends on it is recognized. */
  #isAnswering = false;

  #begin(delayMs: number): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.error.value = null;
    this.isPending.value = true;
    after(delayMs, signal, () => void this.#call(signal));
  }

  async #call(signal: AbortSignal): Promise<void> {
    const request = this.#request;
    try {
      const answer = await guarded(() => api.inspect(this.#fileGuid, request, { signal }));
      if (!signal.aborted) this.#accept(signal, { request, answer });
    } catch (error) {
      if (!signal.aborted) this.#fail(signal, error);
    }
  }

  #accept(signal: AbortSignal, found: Found): void {
    this.#isAnswering = true;
    this.found.value = found;
    this.#isAnswering = false;
    if (!signal.aborted) this.isPending.value = false;
  }

  /** Tries again by itself when the server allows it, or when the network returns. */
  #fail(signal: AbortSignal, error: unknown): void {
    this.error.value = error;
    this.isPending.value = false;
    addEventListener("online", () => this.again(), { once: true, signal });
    const isBusy = error instanceof ProblemError && (error.status === 429 || error.status === 503);
    if (!isBusy || error.retryAfter === null) return;
    const waitMs = Math.min(LONGEST_WAIT_S, Math.max(1, error.retryAfter)) * 1000;
    after(waitMs, signal, () => this.again());
  }
}

/** Calls a function after a delay, at once without one; never after an abort. */
function after(delayMs: number, signal: AbortSignal, call: () => void): void {
  if (delayMs === 0) return call();
  const timer = setTimeout(call, delayMs);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
}
