// Files of a job's report. Their URLs are rights by themselves, so that no token goes with them.

import { type CallOptions, fetchOrFail } from "./http.js";
import { problemOf } from "./problem.js";

/** Reads a presigned URL as a whole; however long it takes, until the signal aborts. */
export async function download(fetcher = fetch, url: string, { signal }: CallOptions = {}): Promise<Blob> {
  const answer = await fetchOrFail(fetcher, url, { signal, cache: "no-store" }, null);
  if (!answer.ok) throw await problemOf(answer);
  return answer.blob();
}
