// One PUT to S3 with a presigned URL, and retries of an upload's steps.

import { isTransient } from "../http.js";
import { NetworkError } from "../problem.js";
import { backOffMs, sleepUntilWoken, waitUntilOnline } from "../sleep.js";
import { withTimeout } from "../timeout.js";
import type { PresignedPut } from "./calls.js";

/** Time without progress after which a PUT is aborted as stalled. */
const STALL_MS = 60_000;
/** A rate below any realistic network, for the time limit in `byFetch`. */
const SLOWEST_BYTES_PER_S = 16 * 1024;
/** Some 15 seconds of refusals and server errors. Time without a network does not count. */
const ATTEMPTS = 6;

/** S3 refused the file or a part of it, in every attempt. */
export class UploadError extends Error {
  override readonly name = "UploadError";

  constructor(
    readonly status: number,
    /** S3's code for the reason, such as `BadDigest`. */
    readonly code: string | null,
  ) {
    super(`S3 answered ${status}${code ? ` ${code}` : ""}`);
  }
}

export interface Put {
  readonly presigned: PresignedPut;
  readonly bytes: Blob;
  readonly signal: AbortSignal | undefined;
  readonly onSent: (bytes: number) => void;
  readonly fetch: typeof fetch | undefined;
}

/**
 * Sends the bytes. Rejects with `UploadError` if S3 refuses them, and with `NetworkError` if it does not
 * answer.
 */
export async function put(request: Put): Promise<void> {
  const { status, text } = await (request.fetch || typeof XMLHttpRequest === "undefined" ? byFetch : byXhr)(
    request,
  );
  if (status < 200 || status > 299)
    throw new UploadError(status, /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? null);
  request.onSent(request.bytes.size);
}

interface PutResponse {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends with `fetch`, which reports no upload progress. A stall cannot be detected, so the limit depends on
 * the size.
 */
async function byFetch({ presigned, bytes, signal, ...request }: Put): Promise<PutResponse> {
  const limitMs = STALL_MS + (bytes.size / SLOWEST_BYTES_PER_S) * 1000;
  const { method, headers } = presigned;
  try {
    return await withTimeout(limitMs, signal, async (signal) => {
      const response = await (request.fetch ?? fetch)(presigned.url, {
        method,
        headers,
        body: bytes,
        signal,
      });
      return { status: response.status, text: await response.text() };
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new NetworkError("No answer to a PUT", { cause });
  }
}

function byXhr({ presigned, bytes, signal, onSent }: Put): Promise<PutResponse> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const xhr = new XMLHttpRequest();
    const abort = () => xhr.abort();
    const failed = () => reject(signal?.aborted ? signal.reason : new NetworkError("No answer to a PUT"));
    let stall = setTimeout(abort, STALL_MS);
    xhr.upload.onprogress = ({ loaded }) => {
      clearTimeout(stall);
      stall = setTimeout(abort, STALL_MS);
      onSent(loaded);
    };
    xhr.onload = () => resolve({ status: xhr.status, text: xhr.responseText });
    xhr.onerror = failed;
    xhr.onabort = failed;
    xhr.onloadend = () => {
      clearTimeout(stall);
      signal?.removeEventListener("abort", abort);
    };
    signal?.addEventListener("abort", abort);
    xhr.open(presigned.method, presigned.url);
    for (const [name, value] of Object.entries(presigned.headers)) xhr.setRequestHeader(name, value);
    xhr.send(bytes);
  });
}

/**
 * Repeats a step until it succeeds or fails permanently. The step must request a new URL each time, since the
 * last one may have expired.
 */
export async function withRetry<T>(signal: AbortSignal | undefined, step: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await step();
    } catch (error) {
      signal?.throwIfAborted();
      // No refusal by S3 is permanent: an expired URL is a 403, corrupted bytes a 400, an ended upload a 404.
      // The next request for a URL shows if the upload was completed or abandoned.
      if (!(error instanceof UploadError || isTransient(error))) throw error;
      if (await waitUntilOnline(signal)) continue;
      if (++failures >= ATTEMPTS) throw error;
      await sleepUntilWoken(backOffMs(failures), signal);
    }
  }
}
