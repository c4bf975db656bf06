// Uploads one file, in one PUT or in parts, as the API decides. Starts or resumes.

import { json } from "../answers.js";
import { creationCall } from "../client.js";
import type { Upload, UploadInParts } from "../documents.js";
import type { Client } from "../methods.js";
import { isKind } from "../problem.js";
import { type PresignedPut, type UploadCalls, uploadCalls } from "./calls.js";
import { type ProgressMeter, progressMeter, type ResumeState, type UploadOptions } from "./options.js";
import { putParts } from "./parts.js";
import { put, UploadError, withRetry } from "./put.js";

/** The file to resume with is not the upload's file. Nothing was sent. */
export class OtherFileError extends Error {
  override readonly name = "OtherFileError";
}

/**
 * Uploads a file and returns its id for `createJob`. After a rejection the upload is kept for a day and can
 * be resumed. Rejects with `ProblemError`, `NetworkError`, `UploadError`, `OtherFileError`, the reason of the
 * signal, or the browser's error for a file that is no longer readable.
 */
export async function upload(
  client: Client,
  file: Blob,
  options: UploadOptions = {},
): Promise<{ fileGuid: string }> {
  const metered = { ...options, onPartProgress: progressMeter(file.size, options.onProgress) };
  if (options.resume) {
    checkSameFile(file, options.resume, options);
    const { fileGuid } = options.resume;
    await resumeUpload(uploadCalls(client.send, fileGuid, options.signal), file, metered);
    return { fileGuid };
  }
  const created = await createUpload(client, file, options);
  const { fileGuid } = created;
  options.onBegun?.({ ...identityOf(file, options), fileGuid });
  const calls = uploadCalls(client.send, fileGuid, options.signal);
  if ("parts" in created) await putParts(calls, { partSize: created.partSize, received: [] }, file, metered);
  else await putWhole(calls, created, file, metered);
  return { fileGuid };
}

async function createUpload(
  client: Client,
  file: Blob,
  options: UploadOptions,
): Promise<Upload | UploadInParts> {
  const { fileName, size } = identityOf(file, options);
  const contentType = options.contentType ?? contentTypeOf(fileName, file);
  const { sha256 } = options;
  return json(client.send(creationCall("/api/uploads", { fileName, contentType, size, sha256 }, options)));
}

async function resumeUpload(
  calls: UploadCalls,
  file: Blob,
  options: Parameters<typeof putParts>[3],
): Promise<void> {
  const { state, size, partSize, receivedParts } = await withRetry(options.signal, calls.status);
  if (size !== file.size)
    throw new OtherFileError(`The upload has ${size} bytes, but the file has ${file.size}`);
  if (state === "received") options.onPartProgress(1, file.size);
  else if (partSize) await putParts(calls, { partSize, received: receivedParts ?? [] }, file, options);
  // Includes an abandoned upload: the request for its URL fails with that problem.
  else await putWhole(calls, null, file, options);
}

/**
 * Sends the file in one PUT: with the first URL, if given, and with a new URL after a failure. S3 accepts a
 * file once. If it is already there, an earlier PUT succeeded and lost its reply.
 */
async function putWhole(
  calls: UploadCalls,
  first: PresignedPut | null,
  file: Blob,
  options: UploadOptions & { readonly onPartProgress: ProgressMeter },
): Promise<void> {
  let presigned = first;
  const onSent = (bytes: number) => options.onPartProgress(1, bytes);
  await withRetry(options.signal, async () => {
    try {
      const current = presigned ?? (await calls.presignFile());
      presigned = null;
      await put({ presigned: current, bytes: file, signal: options.signal, onSent, fetch: options.fetch });
    } catch (error) {
      if (!(await wasPutBefore(calls, error))) throw error;
      onSent(file.size);
    }
  });
}

async function wasPutBefore(calls: UploadCalls, error: unknown): Promise<boolean> {
  if (isKind(error, "already-uploaded")) return true;
  return error instanceof UploadError && error.status === 412 && (await calls.status()).state === "received";
}

function identityOf(file: Blob, options: UploadOptions): Omit<ResumeState, "fileGuid"> {
  const { name, lastModified = null } = file as Partial<File>;
  const fileName = options.fileName ?? name;
  if (!fileName) throw new TypeError("A Blob has no name: set the option `fileName`");
  return { fileName, size: file.size, lastModified };
}

/** Rejects another file, so that no upload mixes parts of two. Name, size and date must match. */
function checkSameFile(file: Blob, state: ResumeState, options: UploadOptions): void {
  const fileName = options.fileName ?? (file as Partial<File>).name ?? state.fileName;
  const { size, lastModified } = identityOf(file, { fileName });
  const isSame = fileName === state.fileName && size === state.size && lastModified === state.lastModified;
  if (!isSame) throw new OtherFileError(`This is not the ${state.fileName} that the upload began with`);
}

/** Browsers do not know JSON Lines; some systems do not know CSV. */
function contentTypeOf(fileName: string, file: Blob): string {
  return /\.(jsonl|ndjson)$/i.test(fileName) ? "application/x-ndjson" : file.type || "text/csv";
}
