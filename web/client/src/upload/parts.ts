// A file that is put part by part. S3 checks each against its SHA-256; what S3 already has is not sent again.

import { ProblemError } from "../problem.js";
import type { UploadCalls } from "./calls.js";
import type { ReceivedPart, UploadOptions } from "./contract.js";
import { base64Of, sha256Of } from "./hash.js";
import { insist } from "./insist.js";
import type { Meter } from "./meter.js";
import { put } from "./put.js";

const USUAL_PARTS_AT_ONCE = 3;
/** How often the API may find parts missing that S3 took, before it is believed. */
const ROUNDS = 3;

/** The parts' size, and those that S3 has. */
export interface Parts {
  readonly partSize: number;
  readonly received: readonly ReceivedPart[];
}

export type PartsOptions = UploadOptions & { readonly meter: Meter };

/** Puts all parts that are missing, then has the file made of them. */
export async function putParts(
  calls: UploadCalls,
  parts: Parts,
  file: Blob,
  options: PartsOptions,
): Promise<void> {
  let received = parts.received;
  for (let round = 1; ; round++) {
    await putMissing(calls, { ...parts, received }, file, options);
    try {
      await insist(options.signal, calls.complete);
      return;
    } catch (error) {
      if (!isKind(error, "upload-incomplete") || round === ROUNDS) throw error;
      received = (await calls.status()).receivedParts ?? [];
    }
  }
}

async function putMissing(
  calls: UploadCalls,
  parts: Parts,
  file: Blob,
  options: PartsOptions,
): Promise<void> {
  const numbers = Array.from({ length: Math.ceil(file.size / parts.partSize) }, (_, index) => index + 1);
  const known = new Map(parts.received.map((part) => [part.partNumber, part]));
  const width = options.partsAtOnce ?? USUAL_PARTS_AT_ONCE;
  await atOnce(numbers, width, options.signal, async (number, signal) => {
    const bytes = file.slice((number - 1) * parts.partSize, number * parts.partSize);
    const sha256 = await sha256Of(bytes);
    signal.throwIfAborted();
    const onSent = (count: number) => options.meter(number, count);
    if (isSame(known.get(number), bytes, sha256)) return onSent(bytes.size);
    await insist(signal, async () => {
      try {
        const ticket = await calls.partTicket(number, sha256);
        await put({ ticket, bytes, signal, onSent, fetch: options.fetch });
      } catch (error) {
        // Made of its parts before, and only the reply was lost: completing it says so again.
        if (!isKind(error, "already-uploaded")) throw error;
      }
    });
  });
}

function isSame(part: ReceivedPart | undefined, bytes: Blob, sha256: string): boolean {
  return part?.size === bytes.size && (part.sha256 == null || base64Of(part.sha256) === sha256);
}

function isKind(error: unknown, kind: ProblemError["kind"]): boolean {
  return error instanceof ProblemError && error.kind === kind;
}

/** Works all items, `width` of them at a time. The first that fails stops the others, and is thrown when they have stopped. */
async function atOnce<T>(
  items: readonly T[],
  width: number,
  signal: AbortSignal | undefined,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item, either);
  };
  await Promise.all(Array.from({ length: width }, () => worker().catch((error) => stop.abort(error))));
  if (stop.signal.aborted) throw stop.signal.reason;
}
