// Puts one file: as a whole or in parts, as the API says; from the beginning or from where it was left.

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
 * Uploads a file and answers what `createJob` takes. When it rejects - aborted, offline for good, refused - the upload stays as
 * it is for a day, and can be resumed. Rejects with `ProblemError`, `NetworkError`, `UploadError`, `OtherFileError`, with the
 * reason of its signal, or with what the browser says of a file that it cannot read any more.
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
    throw new OtherFileError(`The upload is one of ${size} bytes, the file has ${file.size}`);
  if (state === "received") options.onPartProgress(1, file.size);
  else if (partSize) await putParts(calls, { partSize, received: receivedParts ?? [] }, file, options);
  // Also of an upload that was abandoned: its URL is refused with that problem.
  else await putWhole(calls, null, file, options);
}

function identityOf(file: Blob, options: UploadOptions): Omit<ResumeState, "fileGuid"> {
  const { name, lastModified = null } = file as Partial<File>;
  const fileName = options.fileName ?? name;
  if (!fileName) throw new TypeError("A Blob has no name: give `fileName`");
  return { fileName, size: file.size, lastModified };
}

/** Parts of two files must never become one: name, size and date must be those of the file that the upload was created with. */
function checkSameFile(file: Blob, state: ResumeState, options: UploadOptions): void {
  const fileName = options.fileName ?? (file as Partial<File>).name ?? state.fileName;
  const { size, lastModified } = identityOf(file, { fileName });
  const isSame = fileName === state.fileName && size === state.size && lastModified === state.lastModified;
  if (!isSame) throw new OtherFileError(`This is not ${state.fileName} as it was when its upload began`);
}

/** Browsers know no JSON Lines, and on some machines no CSV either. */
function contentTypeOf(fileName: string, file: Blob): string {
  return /\.(jsonl|ndjson)$/i.test(fileName) ? "application/x-ndjson" : file.type || "text/csv";
}
