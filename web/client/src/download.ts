// Files of a job's report. Their URLs are rights by themselves, so that no token goes with them.

import { type CallOptions, fetchWhole } from "./http.js";
import { problemOf } from "./problem.js";

/** Reads a presigned URL as a whole; however long it takes, until the signal aborts. */
export async function download(
  fetcher: typeof fetch | undefined,
  url: string,
  { signal }: CallOptions = {},
): Promise<Blob> {
  const { answer, body } = await fetchWhole(fetcher, url, { signal });
  if (!answer.ok) throw problemOf(answer, await body.text());
  return body;
}
