// Uploads one file, in one PUT or in parts, as the API decides. Starts or resumes.

import { type Client, creationCall, json } from "../client.js";
import type { Upload, UploadInParts } from "../documents.js";
import { type UploadCalls, uploadCalls } from "./calls.js";
import { OtherFileError } from "./errors.js";
import type { ResumeState, UploadOptions } from "./options.js";
import { putParts } from "./parts.js";
import { progressMeter } from "./progress-meter.js";
import { withRetry } from "./retry.js";
import { putWhole } from "./single.js";

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
