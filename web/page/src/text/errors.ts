/** Texts of errors: the page's own, the API's by kind and code, and those of whole jobs by code. */

export const FAILED = "Something went wrong";

export const UNREACHABLE = "The server cannot be reached. Check your connection.";

const CHANGED: [string, string] = [
  "The file is no longer readable",
  "It was moved or changed after it was chosen. Choose it again.",
];

export const errorText = {
  /** Errors outside the API, by the error's name: title and solution. */
  clientErrors: {
    NetworkError: [FAILED, UNREACHABLE],
    UploadError: [
      "The upload failed",
      "The storage did not accept the file. Try again. If that does not help, choose the file again.",
    ],
    NotReadableError: CHANGED,
    NotFoundError: CHANGED,
  } as Record<string, [string, string]>,

  /** Errors and warnings of a whole job, by code. A colon at the end asks for the API's own sentence. */
  jobCodes: {
    canceled: "It was canceled.",
    deleted: "It was deleted.",
    time_limit: "It exceeded its time limit.",
    too_many_failures: "More rows failed than the job allows:",
    split_failed: "The file could not be read completely. This is an error on our side.",
    completion_failed: "The report could not be written. This is an error on our side.",
    file_empty: "The file is empty.",
    file_binary: "The file is not a text file:",
    file_not_utf8: 'The file is not encoded in UTF-8. Save it as "CSV UTF-8", and import it again.',
    duplicate_column: "Two columns have the same name:",
    key_not_in_header: "The key column is not in the file:",
    required_column_missing: "A column that the schema requires is not in the file:",
    header_too_long: "The first line is too long for a header:",
    too_many_columns: "The file has too many columns:",
    unterminated_quote: "A quote is not closed:",
    source_missing: "The source of the items no longer exists:",
    source_changed: "The source of the items has changed:",
    source_gone: "The file no longer exists. Unprocessed rows are listed by their numbers only.",
    results_as_csv: "The results do not fit into a workbook, so they are a CSV file.",
    results_incomplete: "Some results are missing, so there is no results file. Run the job again.",
    results_too_large: "The results are too large for one file, so there is none.",
    columns_left_out: "Some records have properties that the file has no column for:",
    columns_not_found: "No item has some of the chosen columns:",
    rest_not_listed: "The file no longer exists. Unprocessed rows are not listed.",
    no_report: "The files of the report no longer exist.",
    dataset_too_large: "The dataset has more records than one job can hold:",
    part_too_large: "The other job has more items than one job can hold:",
    no_rows: "The file has a header but no rows.",
    undo_too_large: "The import was retried with too many rows for one undo:",
    too_slow: "The rate limit of the job type is too low for the time limit:",
    unnamed_column: "Some columns have no name:",
    column_without_name: "Columns without a name are not imported:",
    column_not_in_schema: "Columns that are not in the schema are imported as text:",
    corrected_file_gone: "The corrected file no longer exists. Drop it again.",
    not_a_failures_file: "The corrected file is not a failures file of this job:",
    corrected_rows_unknown: "Some rows of the corrected file did not fail in this job:",
    corrected_rows_repeated: "Some rows are in the corrected file more than once:",
    corrected_rows_unreadable: "Some rows of the corrected file could not be read:",
    corrected_rows_unchecked: "Some rows of the corrected file were not compared with the failed rows:",
    corrected_rows_unchanged: "Some rows of the corrected file have not been corrected:",
  } as Record<string, string>,

  /** The API's problems, by kind: title and solution. */
  refusals: {
    "already-uploaded": ["The file was already uploaded", "Choose it again."],
    "body-too-large": ["The request is too large", "A schema can have at most 64 KiB."],
    busy: ["The server is busy", "Nothing was started. Try again in a few minutes."],
    "file-gone": ["The file no longer exists", "Drop it again as a new import."],
    gateway: ["The server sent an unexpected answer", "Try again in a minute."],
    internal: ["An error occurred on our side", "Try again."],
    "job-deleted": ["The job was deleted", "Drop the file again as a new import."],
    "job-ended": ["The job has already ended", "See its result."],
    "job-undone": ["This job cannot be retried", "It is an undo, or an import that is or was undone."],
    "not-an-operator": ["Only operators can do this", "Ask an operator of this deployment."],
    "no-report": ["There is no report", "It could not be written, or it has expired. The counts remain."],
    "no-tenant": ["You do not have access", "Ask your administrator for access, and sign in again."],
    "not-ended": ["The job has not ended yet", "Wait until it ends, or cancel it."],
    "not-finished": ["The job has not ended yet", "Wait until it ends."],
    "not-found": ["There is nothing here", "It was deleted, has expired, or never existed."],
    "not-undoable": ["This import cannot be undone", "Import a file with the old contents instead."],
    "not-validated": ["The check has not completed", "Retry it, or drop the file again as a new import."],
    "nothing-to-retry": ["There are no rows to retry", "Every row succeeded or was skipped."],
    "nothing-to-start": [
      "There is nothing to start",
      "This job is not a check, so there is nothing to start.",
    ],
    "precondition-failed": ["It has changed in the meantime", "Reload the page, and make your change again."],
    "rate-limited": ["Too many requests", "Try again in a moment."],
    "too-many-job-types": ["There are too many job types", "Delete one that is no longer used."],
    "too-many-jobs": ["Too many jobs are running", "Wait until one ends, or cancel one."],
    "undo-active": ["The import is being undone", "Wait until its undo ends, or cancel the undo."],
    "undo-too-early": ["The import has just ended", "Try again in a few minutes."],
    unavailable: ["The service is temporarily unavailable", "Try again in a moment."],
    "upload-abandoned": ["The upload was abandoned", "Choose the file again."],
    "upload-incomplete": ["The upload is not complete", "Choose the file again."],
    "upload-quota-exceeded": [
      "Nothing more can be imported today",
      "Try again tomorrow, or with a smaller file.",
    ],
  } as Record<string, [string, string]>,
  invalid: "The request is invalid",
  /** Errors in a request's fields, by code. */
  badFields: {
    empty_file: "The file is empty.",
    file_too_large: "The file is too large.",
    corrected_file_too_large: "A corrected file can have at most 32 MiB.",
    unknown_file: "The file no longer exists. Choose it again.",
    file_not_uploaded: "The file is not uploaded yet. Choose it again.",
    file_size_mismatch: "The file has changed since it was chosen. Choose it again.",
    invalid_dataset: "A dataset's name has 1 to 64 characters: letters, digits, - and _.",
    invalid_key: "Choose the key column.",
    columns_required: "The records have too many properties for a table. Choose columns, or JSON Lines.",
    schema_too_large: "A schema can have at most 64 KiB.",
  } as Record<string, string>,
  signedOut: ["You are no longer signed in", "Try again. If that does not help, sign out and sign in."] as [
    string,
    string,
  ],
};
