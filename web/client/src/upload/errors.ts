// Errors of an upload, in addition to the API's problems.

/** S3 refused the file or a part of it, in every attempt. */
export class UploadError extends Error {
  override readonly name = "UploadError";

  constructor(
    readonly status: number,
    /** S3's code for the reason, such as `BadDigest`. */
    readonly code: string | null,
  ) {
    super(`S3 answered ${status}${code ? ` ${code}` : ""}`);
  }
}

/** The file to resume with is not the upload's file. Nothing was sent. */
export class OtherFileError extends Error {
  override readonly name = "OtherFileError";
}
