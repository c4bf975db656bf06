// Uploads: `longshore-client/upload`.

export type { ReceivedPart, UploadStatus } from "../documents.js";
export { OtherFileError, UploadError } from "./errors.js";
export type { Progress, ResumeState, UploadOptions } from "./options.js";
export { upload } from "./upload.js";
