// What can be wrong with an upload, beside what the API refuses.

/** S3 refused the file or a part of it, again and again. */
export class UploadError extends Error {
  override readonly name = "UploadError";

  constructor(
    readonly status: number,
    /** S3's own name for the reason, such as `BadDigest`. */
    readonly code: string | null,
  ) {
    super(`S3 answered ${status}${code ? ` ${code}` : ""}`);
  }
}

/** An upload was to be resumed with another file than it was begun with. Nothing was sent. */
export class OtherFileError extends Error {
  override readonly name = "OtherFileError";
}
