// Uploads in parts. S3 verifies each part's SHA-256; parts that S3 already has are not sent again.

import type { ReceivedPart } from "../documents.js";
import { isKind, type ProblemError } from "../problem.js";
import { backOffMs, retryAfterMs, sleep, sleepUntilWoken } from "../sleep.js";
import type { UploadCalls } from "./calls.js";
import type { ProgressMeter, UploadOptions } from "./options.js";
import { put, withRetry } from "./put.js";

const DEFAULT_PARTS_AT_ONCE = 3;
/** Rounds in which the API may report missing parts before the upload fails: half a minute. */
const MAX_ROUNDS = 6;
/**
 * Rounds in which another call may be completing the upload: some five minutes. S3 needs minutes for a very
 * large file.
 */
const MAX_ROUNDS_WHILE_COMPLETING = 15;

/** The size of a part, and the parts that S3 has received. */
export interface Parts {
  readonly partSize: number;
  readonly received: readonly ReceivedPart[];
}

export type PartsOptions = UploadOptions & { readonly onPartProgress: ProgressMeter };

/** Sends all missing parts, then completes the upload. */
export async function putParts(
  calls: UploadCalls,
  parts: Parts,
  file: Blob,
  options: PartsOptions,
): Promise<void> {
  // Shared by all rounds, so that no part is read and hashed twice.
  const hashes = new Map<number, string>();
  let received = parts.received;
  for (let round = 1; ; round++) {
    try {
      await putMissing(calls, { ...parts, received, hashes }, file, options);
      await withRetry(options.signal, calls.complete);
      return;
    } catch (error) {
      if (!isKind(error, "upload-incomplete")) throw error;
      // The API sends `Retry-After` only while another call is completing the upload.
      if (round >= (error.retryAfter ? MAX_ROUNDS_WHILE_COMPLETING : MAX_ROUNDS)) throw error;
      await waitBeforeRound(error, round, options.signal);
    }
    const status = await withRetry(options.signal, calls.status);
    if (status.state === "received") return;
    received = status.receivedParts ?? [];
  }
}

async function putMissing(
  calls: UploadCalls,
  parts: Parts & { readonly hashes: Map<number, string> },
  file: Blob,
  options: PartsOptions,
): Promise<void> {
  const numbers = Array.from({ length: Math.ceil(file.size / parts.partSize) }, (_, index) => index + 1);
  const known = new Map(parts.received.map((part) => [part.partNumber, part]));
  const concurrency = Math.max(1, options.partsAtOnce ?? DEFAULT_PARTS_AT_ONCE);
  await forEachConcurrently(numbers, concurrency, options.signal, async (number, signal) => {
    const bytes = file.slice((number - 1) * parts.partSize, number * parts.partSize);
    const sha256 = parts.hashes.get(number) ?? (await sha256Base64(bytes));
    parts.hashes.set(number, sha256);
    signal.throwIfAborted();
    const onSent = (count: number) => options.onPartProgress(number, count);
    if (isSame(known.get(number), bytes, sha256)) return onSent(bytes.size);
    await withRetry(signal, async () => {
      try {
        const presigned = await calls.presignPart(number, sha256, signal);
        await put({ presigned, bytes, signal, onSent, fetch: options.fetch });
      } catch (error) {
        // Another page, or a call with a lost reply, has completed the upload. The final completion confirms
        // it.
        if (!isKind(error, "already-uploaded")) throw error;
        onSent(bytes.size);
      }
    });
  });
}

/**
 * Returns the SHA-256 in base64, as S3 expects it. Reads the bytes into memory: one part, never a whole file.
 */
async function sha256Base64(bytes: Blob): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await bytes.arrayBuffer());
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

/** A part without a checksum may belong to another file. */
function isSame(part: ReceivedPart | undefined, bytes: Blob, sha256: string): boolean {
  return part?.size === bytes.size && part.sha256 === sha256;
}

/** Waits before the next round: longer each time, and at least as long as the API asks for. */
function waitBeforeRound(
  { retryAfter }: ProblemError,
  round: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const ms = backOffMs(round);
  return retryAfter ? sleep(Math.max(ms, retryAfterMs(retryAfter)), signal) : sleepUntilWoken(ms, signal);
}

/**
 * Processes items with limited concurrency. The first failure aborts the others, and is thrown after they
 * have stopped.
 */
async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  signal: AbortSignal | undefined,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item, either);
  };
  await Promise.all(Array.from({ length: concurrency }, () => worker().catch((error) => stop.abort(error))));
  if (stop.signal.aborted) throw stop.signal.reason;
}
