/** A file that is uploaded in parts, and views of what the test server received of it. */

import { expect } from "vitest";
import { type ResumeState, type UploadOptions, upload } from "../src/upload/index.js";
import type { Request } from "./messages.js";
import type { TestServer } from "./server.js";

/** Larger than the test server's limit for a single PUT: three parts, of 400, 400 and 223 bytes. */
export const text = Array.from({ length: 1_023 }, (_, index) => String.fromCharCode(97 + (index % 26))).join(
  "",
);
export const file = new File([text], "many.csv", { type: "text/csv", lastModified: 1_700_000_000_000 });
export const PARTS = [text.slice(0, 400), text.slice(400, 800), text.slice(800)];

export const puts = (server: TestServer) => server.seen("PUT /s3/*");
export const bodies = (requests: Request[]) => requests.map(({ body }) => String(body)).sort();
export const completions = (server: TestServer) =>
  server.seen("POST /api/uploads/*").filter(({ path }) => path.endsWith("/complete"));

/** Adds all parts to S3, as if another page had sent them. */
export function putAll(server: TestServer, fileGuid: string): void {
  const parts = server.uploads.all.get(fileGuid)?.parts;
  for (const [index, part] of PARTS.entries()) parts?.set(index + 1, Buffer.from(part));
}

/** Starts an upload, aborts it after its first part, and returns its resumable state. */
export async function interruptedUpload(
  server: TestServer,
  options: UploadOptions = {},
): Promise<ResumeState> {
  const abort = new AbortController();
  let state: ResumeState | undefined;
  const onBegun = (begun: ResumeState) => {
    state = begun;
  };
  const onProgress = () => abort.abort();
  const call = upload(server.client, file, {
    ...options,
    partsAtOnce: 1,
    signal: abort.signal,
    onBegun,
    onProgress,
  });
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
  if (!state) throw new Error("The upload was not created");
  return state;
}
