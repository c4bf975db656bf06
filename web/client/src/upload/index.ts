// Putting files: `longshore-client/upload`.

export type {
  Progress,
  ReceivedPart,
  ResumeState,
  UploadOptions,
  UploadStatus,
} from "./contract.js";
export { OtherFileError, UploadError } from "./errors.js";
export { upload } from "./upload.js";
