// A file that is put part by part. S3 checks each against its SHA-256; what S3 already has is not sent again.

import type { ReceivedPart } from "../documents.js";
import { isKind, type ProblemError } from "../problem.js";
import { backOffMs, retryAfterMs, sleep, sleepUntilWoken } from "../sleep.js";
import type { UploadCalls } from "./calls.js";
import type { UploadOptions } from "./options.js";
import type { ProgressMeter } from "./progress-meter.js";
import { put } from "./put.js";
import { withRetry } from "./retry.js";

const DEFAULT_PARTS_AT_ONCE = 3;
/** How often the API may find parts missing that S3 took, before it is believed: half a minute. */
const MAX_ROUNDS = 6;
/** How often it may say that another call is completing the upload: some five minutes. For a very large file S3 takes minutes. */
const MAX_ROUNDS_WHILE_COMPLETING = 15;

/** The parts' size, and those that S3 has. */
export interface Parts {
  readonly partSize: number;
  readonly received: readonly ReceivedPart[];
}

export type PartsOptions = UploadOptions & { readonly onPartProgress: ProgressMeter };

/** Puts all parts that are missing, then has the file made of them. */
export async function putParts(
  calls: UploadCalls,
  parts: Parts,
  file: Blob,
  options: PartsOptions,
): Promise<void> {
  // Kept over the rounds, or each would read the whole file again.
  const hashes = new Map<number, string>();
  let received = parts.received;
  for (let round = 1; ; round++) {
    try {
      await putMissing(calls, { ...parts, received, hashes }, file, options);
      await withRetry(options.signal, calls.complete);
      return;
    } catch (error) {
      if (!isKind(error, "upload-incomplete")) throw error;
      // Only where another call is completing the upload the API says when to come again.
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
        // Made of its parts before, by another page or by a call whose reply was lost: completing it says so again.
        if (!isKind(error, "already-uploaded")) throw error;
        onSent(bytes.size);
      }
    });
  });
}

/** Reads the bytes into memory: a part at a time, never a file. */
async function sha256Base64(bytes: Blob): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await bytes.arrayBuffer());
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

/** A part without a checksum may be one of another file. */
function isSame(part: ReceivedPart | undefined, bytes: Blob, sha256: string): boolean {
  return part?.size === bytes.size && part.sha256 === sha256;
}

/** Between two rounds: longer each time, and never shorter than the API asks for. */
function waitBeforeRound(
  { retryAfter }: ProblemError,
  round: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const ms = backOffMs(round);
  return retryAfter ? sleep(Math.max(ms, retryAfterMs(retryAfter)), signal) : sleepUntilWoken(ms, signal);
}

/** Works all items, `concurrency` of them at a time. The first that fails stops the others, and is thrown when they have stopped. */
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
