// One PUT to S3 with a presigned URL.

import { NetworkError } from "../problem.js";
import { withTimeout } from "../timeout.js";
import type { PresignedPut } from "./calls.js";
import { UploadError } from "./errors.js";

/** Time without progress after which a PUT is aborted as stalled. */
const STALL_MS = 60_000;
/** A rate below any realistic network, for the time limit in `byFetch`. */
const SLOWEST_BYTES_PER_S = 16 * 1024;

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
