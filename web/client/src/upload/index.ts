// Uploads: `longshore-client/upload`.

export type { ReceivedPart, UploadStatus } from "../documents.js";
export type { Progress, ResumeState, UploadOptions } from "./options.js";
export { UploadError } from "./put.js";
export { OtherFileError, upload } from "./upload.js";
