// Files of a job's report. Their URLs are rights by themselves, so that no token goes with them.

import { type CallOptions, fetchWithBody } from "./http.js";
import { problemFrom } from "./problem.js";

/** Reads a presigned URL as a whole; however long it takes, until the signal aborts. */
export async function download(
  fetcher: typeof fetch | undefined,
  url: string,
  { signal }: CallOptions = {},
): Promise<Blob> {
  const { response, body } = await fetchWithBody(fetcher, url, { signal });
  if (!response.ok) throw problemFrom(response, await body.text());
  return body;
}
