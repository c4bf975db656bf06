/** All texts of the page, in one place for translation. */

import type { Failure, Job } from "longshore-client";

const plural = (count: number, one: string, many: string) => `${number(count)} ${count === 1 ? one : many}`;

/** Formats a whole number with separators. */
export function number(value: number): string {
  return value.toLocaleString("en");
}

/** Formats a number of bytes. */
export function bytes(value: number): string {
  if (value < 1000) return plural(value, "byte", "bytes");
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(value) / 3), units.length);
  const scaled = value / 1000 ** power;
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[power - 1]}`;
}

/** Formats a duration. */
export function duration(seconds: number): string {
  if (seconds < 1) return "less than a second";
  if (seconds < 120) return plural(Math.round(seconds), "second", "seconds");
  if (seconds < 90 * 60) return plural(Math.round(seconds / 60), "minute", "minutes");
  return plural(Math.round(seconds / 3600), "hour", "hours");
}

/** Formats a moment. Shows the year only if it is not the current one. */
export function moment(iso: string, now = new Date()): string {
  const when = new Date(iso);
  return when.toLocaleString("en", {
    month: "short",
    day: "numeric",
    ...(when.getFullYear() !== now.getFullYear() && { year: "numeric" }),
    hour: "numeric",
    minute: "2-digit",
  });
}

const eachOf = (rows: number) => (rows === 1 ? "the first row" : `each of the first ${number(rows)} rows`);

const FAILED = "Something went wrong";

const UNREACHABLE = "The server cannot be reached. Check your connection.";

const CHANGED: [string, string] = [
  "The file is no longer readable",
  "It was moved or changed after it was chosen. Choose it again.",
];

/** Returns a job's display name. */
export function jobName({ fileName, jobType, jobId }: Job): string {
  return fileName ?? `${jobType} ${jobId.slice(-6)}`;
}

/** Returns a job's state as a sentence. */
export function jobMessage({ status, stage, percent }: Job): string {
  const { waiting, running, stopping, stoppingAt, ...ended } = text.job.messages;
  if (status === "waiting") return stage === "stopping" ? stopping : waiting;
  if (status === "running") return stage === "stopping" ? stoppingAt(percent) : running(percent);
  return ended[status];
}

/**
 * Returns the reason of a row's failure; undefined for an unknown code. A colon at the end asks for the API's
 * own sentence, which says more.
 */
export function failureReason({ code, field }: Pick<Failure, "code" | "field">): string | undefined {
  const { reasons, bySchema, theRow } = text.failures;
  const words = reasons[code] ?? (code.startsWith("schema_") ? bySchema : undefined);
  return words?.(field === null ? theRow : `"${field}"`).replace(/^./, (first) => first.toUpperCase());
}

export const text = {
  app: "Longshore",
  description: "Import a file, watch its progress, fix what failed.",
  noScript: "This page needs JavaScript.",
  notices: "Licences of third-party software",
  titles: {
    import: "Import",
    jobs: "Jobs",
    job: "Job",
    datasets: "Datasets",
    records: "Records",
    unknown: "Not found",
  },
  skip: "Skip to content",
  nav: { label: "Pages", import: "Import", jobs: "Jobs", datasets: "Datasets" },
  theme: { toDark: "Use dark colours", toLight: "Use light colours" },
  loading: "Loading...",
  table: { scrolls: "Scroll this table sideways to see all columns." },
  more: "Show more",
  tryAgain: "Try again",
  unreachable: UNREACHABLE,
  offline: "No connection. This page continues by itself once you are online.",
  notFound: {
    title: "There is nothing here",
    body: "The address may be wrong, or what was here has been deleted.",
    home: "Import a file",
  },
  failed: FAILED,
  request: (id: string) => `Request ${id}`,

  session: {
    title: "Sign in to import files",
    body: "You will come back to this page.",
    expiredTitle: "Your session has ended",
    expiredBody: "Sign in again to continue where you were. Nothing is lost: your jobs keep running.",
    expiredHere: "Sign in again in another tab. This tab stays as it is and continues by itself.",
    signIn: "Sign in",
    signInTab: "Sign in in another tab",
    signOut: "Sign out",
    errors: {
      refused: "The sign-in did not work.",
      unreachable:
        "The sign-in page does not answer. Check your connection. If that does not help, ask the operator of this page.",
    },
    noName: "Signed in",
  },

  file: {
    title: "Import a file",
    lead: "Valid rows are imported. You get back exactly the invalid ones, each with the reason.",
    drop: "Drop a CSV or JSON Lines file here",
    choose: "or choose a file",
    remove: "Remove this file",
    uploading: (percent: number) => `Uploading, ${percent}%`,
    uploaded: "Uploaded",
    uploadProgress: "Upload",
    csvBy: (delimiter: string) => `CSV, columns separated by ${delimiter}`,
    jsonLines: "JSON Lines",
    columns: (count: number) => plural(count, "column", "columns"),
    delimiters: { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" } as Record<string, string>,
    wrongType: "This is not a CSV or JSON Lines file. Its name must end in .csv, .jsonl or .ndjson.",
    empty: "This file is empty.",
  },

  unreadable: {
    unread:
      "This file cannot be read. Folders cannot be imported. If the file was moved or changed, choose it again.",
    empty: "This file is empty.",
    workbook: 'This is a workbook. Save it as "CSV UTF-8" in your spreadsheet program, and drop that file.',
    archive: "This is an archive. Unpack it, and drop the CSV file that is inside.",
    pdf: "This is a PDF document. Rows cannot be read from it.",
    binary: "This is not a text file.",
    "not-utf8":
      'This file is not in UTF-8. Save it as "CSV UTF-8" in your spreadsheet program, and drop that file.',
  },

  preview: {
    title: "First rows",
    caption: "The first rows of the file",
    row: "Row",
    becomes: (name: string) => `imported as ${name}`,
  },

  options: {
    title: "Import options",
    dataset: "Dataset",
    datasetHint: "Letters, digits, - and _. A new name creates a new dataset.",
    datasetBad: "A name has 1 to 64 letters, digits, - and _.",
    key: "Key",
    keyHint: "The column that identifies a record.",
    keyNone: "Choose a column",
    mode: "What to do",
    modes: {
      upsert: ["Import", "A row with an existing key replaces the record."],
      insert: ["Import new rows only", "A row with an existing key fails."],
      validate: ["Check only", "Writes nothing. You can start the import afterwards."],
    } as Record<"upsert" | "insert" | "validate", [string, string]>,
    schema: "Schema",
    schemaHint: "A JSON Schema file that each row must match. Without one, every row with a key is valid.",
    schemaChoose: "Choose a schema",
    schemaRemove: "Remove the schema",
    schemaBad: (name: string) => `${name} is not a JSON Schema with properties.`,
    schemaChosen: (name: string, count: number) => `${name}, ${plural(count, "field", "fields")}`,
  },

  mapping: {
    title: "Columns",
    caption: "Columns of the file by field",
    field: "Field",
    column: "Column of the file",
    example: "First value",
    required: "required",
    none: "Not in the file",
    columnOf: (field: string) => `Column for ${field}`,
    others: (columns: string[]) => `Imported under their own names: ${columns.join(", ")}`,
  },

  problems: {
    title: "Every row would fail",
    delimiter: (found: string) =>
      `The columns are separated by ${found}. Only commas are read: save the file as comma-separated CSV.`,
    "duplicate-column": (column: string) => `Two columns are named "${column}". Rename one of them.`,
    "no-rows": "The file has a header but no rows.",
    "no-key": (key: string) => `The key column "${key}" is not in the file.`,
    "missing-field": (field: string) => `"${field}" is required, and no column is mapped to it.`,
    "unknown-columns": (columns: string[]) =>
      `The schema does not allow these columns: ${columns.join(", ")}.`,
    "not-json": "No line is a JSON object. Each line must be one.",
  },

  warnings: {
    title: "Check this before you start",
    "key-empty": (key: string, rows: number, of: number) =>
      rows === of
        ? `The key "${key}" is empty in ${eachOf(of)}. A row without a key fails.`
        : `The key "${key}" is empty in ${number(rows)} of the first ${number(of)} rows. These fail.`,
    "key-repeats": (key: string, value: string) =>
      `The key "${key}" has "${value}" more than once. Rows with the same key are one record.`,
    "nameless-columns": (columns: number[]) =>
      `Columns without a name are not imported: ${columns.join(", ")}.`,
    "bad-lines": (lines: number[]) => `Rows that are not JSON objects fail: ${lines.join(", ")}.`,
    cells: (more: boolean, rows: number) =>
      `There are ${more ? "more" : "fewer"} cells than columns in ${eachOf(rows)}. Such rows fail.`,
    "every-row": (field: string, reason: string, rows: number) =>
      `"${field}" fails in ${eachOf(rows)}: ${reason}`,
    "schema-not-supported": "This page cannot check rows with this schema. The import checks every row.",
  },

  start: {
    import: "Start import",
    validate: "Start check",
    waiting: "Starts when the upload is done...",
    creating: "Starting...",
    cancel: "Do not start",
    started: (name: string) => `The import of ${name} has started.`,
    notStarted: (name: string) => `The import of ${name} could not be started.`,
    seeJob: "See its job",
  },

  corrections: {
    cancel: "Cancel the upload",
    reopened: "The corrected rows are being retried.",
    notReopened: "The corrected rows could not be retried.",
  },

  /** Errors outside the API, by the error's name: title and solution. */
  clientErrors: {
    NetworkError: [FAILED, UNREACHABLE],
    UploadError: [
      "The upload failed",
      "The storage did not accept the file. Try again. If that fails, choose the file again.",
    ],
    NotReadableError: CHANGED,
    NotFoundError: CHANGED,
  } as Record<string, [string, string]>,

  job: {
    messages: {
      waiting: "Waiting for job to start...",
      running: (percent: number) => `Job running, ${percent}% complete...`,
      stopping: "Job stopping...",
      stoppingAt: (percent: number) => `Job stopping, ${percent}% complete...`,
      completed: "Job complete",
      failed: "Job failed",
      canceled: "Job canceled",
    },
    progress: "Progress",
    rows: (done: number, all: number) => `${number(done)} of ${number(all)}`,
    counting: (done: number, all: number) => `${number(done)} of ${number(all)} counted so far`,
    succeeded: "Succeeded",
    failed: "Failed",
    skipped: "Skipped",
    rate: "Rate",
    perSecond: (count: number) => `${number(count)} a second`,
    left: "Time left",
    leftSoon: "A few seconds",
    leftUnknown: "Not known yet",
    took: "Took",
    created: (when: string) => `Created ${when}`,
    attempt: (count: number) => `Attempt ${count}`,
    cancel: "Cancel",
    canceling: "Stopping...",
    delete: "Delete",
    retry: "Retry failed rows",
    start: "Start import",
    startedAs: "See the started import",
    startedFrom: "See the original check",
    announced: (percent: number) => `${percent} percent`,
    issues: "Warnings",
    files: "Files",
    fileNames: {
      failed: "Failed rows, for correction",
      skipped: "Skipped rows",
      unprocessed: "Unprocessed rows",
      receipt: "Receipt",
    },
    fileRows: (count: number) => plural(count, "row", "rows"),
    allRight: "Every row succeeded.",
    allChecked: "Every row is valid.",
    checkedBad: (count: number) =>
      `An import skips ${count === 1 ? "the row that failed" : `the ${number(count)} rows that failed`}. Start it and ` +
      "correct them afterwards, or correct the file and drop it as a new import.",
    checkedBadStarted: "The import has skipped the rows that failed. Correct them there.",
    another: "Import another file",
    dataset: (name: string) => `See the records of ${name}`,
  },

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
    file_not_utf8: 'The file is not in UTF-8. Save it as "CSV UTF-8", and import it again.',
    duplicate_column: "Two columns have the same name:",
    key_not_in_header: "The key column is not in the file:",
    required_column_missing: "A column that the schema requires is not in the file:",
    header_too_long: "The first line is too long for a header:",
    too_many_columns: "The file has too many columns:",
    unterminated_quote: "A quote is not closed:",
    source_missing: "The file no longer exists. Import it again.",
    source_changed: "The file was replaced while the job ran. Import it again.",
    source_gone: "The file no longer exists. Unprocessed rows are listed by their numbers only.",
    rest_not_listed: "The file no longer exists. Unprocessed rows are not listed.",
    no_report: "The files of the report no longer exist.",
    no_rows: "The file has a header but no rows.",
    unnamed_column: "Some columns have no name:",
    column_without_name: "Columns without a name are not imported:",
    column_not_in_schema: "Columns that are not in the schema are imported as text:",
    corrected_file_gone: "The corrected file no longer exists. Drop it again.",
    not_a_failures_file: "The corrected file is not a failures file of this job:",
    corrected_rows_unknown: "Some rows of the corrected file did not fail in this job:",
    corrected_rows_repeated: "Some rows are in the corrected file more than once:",
    corrected_rows_unreadable: "Some rows of the corrected file could not be read:",
    corrected_rows_unchecked: "Some rows of the corrected file were not compared with the failed rows:",
    corrected_rows_unchanged: "Some rows of the corrected file still need correction:",
  } as Record<string, string>,

  /** The API's problems, by kind: title and solution. */
  refusals: {
    "already-uploaded": ["The file was already uploaded", "Choose it again."],
    "body-too-large": ["The request is too large", "A schema may have at most 64 KiB."],
    busy: ["The server is busy", "Nothing was started. Try again in a few minutes."],
    "file-gone": ["The file no longer exists", "Drop it again as a new import."],
    gateway: ["The server sent an unexpected answer", "Try again in a minute."],
    internal: ["Something failed on our side", "Try again."],
    "job-deleted": ["The job was deleted", "Drop the file again as a new import."],
    "job-ended": ["The job has already ended", "See its result."],
    "no-report": ["There is no report", "It could not be written, or it has expired. The counts remain."],
    "no-tenant": ["You may not import here", "Ask the operator of this page for access, and sign in again."],
    "not-ended": ["The job has not ended yet", "Wait until it ends, or cancel it."],
    "not-finished": ["The job has not ended yet", "Wait until it ends."],
    "not-found": ["There is nothing here", "It was deleted, has expired, or never existed."],
    "not-validated": ["The check has not completed", "Retry it, or drop the file again as a new import."],
    "nothing-to-retry": ["There are no rows to retry", "Every row succeeded or was skipped."],
    "nothing-to-start": ["There is nothing to start", "This job has already imported its rows."],
    "precondition-failed": ["The job has changed in the meantime", "Check its state and try again."],
    "rate-limited": ["Too many requests", "Try again in a moment."],
    "too-many-jobs": ["Too many jobs are running", "Wait until one ends, or cancel one."],
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
    corrected_file_too_large: "A corrected file may have at most 32 MiB.",
    unknown_file: "The file no longer exists. Choose it again.",
    file_not_uploaded: "The file is not uploaded yet. Choose it again.",
    file_size_mismatch: "The file has changed since it was chosen. Choose it again.",
    invalid_dataset: "A dataset's name has 1 to 64 letters, digits, - and _.",
    invalid_key: "Choose the key column.",
    schema_too_large: "A schema may have at most 64 KiB.",
  } as Record<string, string>,
  signedOut: ["You are no longer signed in", "Try again. If that does not help, sign out and sign in."] as [
    string,
    string,
  ],

  failures: {
    title: "Failed rows",
    byReason: "By reason",
    rows: "Row by row",
    reason: "Reason",
    count: "Rows",
    exampleOf: (row: number, value: string) =>
      value ? `Row ${number(row)}: ${value}` : `Row ${number(row)}`,
    row: "Row",
    column: "Column",
    value: "Value",
    example: "For example",
    none: "-",
    theRow: "the row",
    /**
     * Reasons by code, for a column or the row. A colon at the end asks for the API's own sentence, which
     * says more.
     */
    reasons: {
      schema_required: (what) => `${what} is missing or empty`,
      schema_type: (what) => `${what} has the wrong type:`,
      schema_format: (what) => `${what} has the wrong format:`,
      schema_pattern: (what) => `${what} has the wrong format:`,
      schema_enum: (what) => `${what} is not one of the allowed values:`,
      schema_const: (what) => `${what} is not the allowed value:`,
      schema_minimum: (what) => `${what} is too small:`,
      schema_exclusive_minimum: (what) => `${what} is too small:`,
      schema_maximum: (what) => `${what} is too large:`,
      schema_exclusive_maximum: (what) => `${what} is too large:`,
      schema_min_length: (what) => `${what} is too short:`,
      schema_max_length: (what) => `${what} is too long:`,
      schema_additional_properties: (what) => `${what} is not in the schema:`,
      missing_key: (what) => `${what} is the key, and is missing or empty`,
      invalid_key: (what) => `${what} is the key, and is neither text nor a whole number`,
      key_too_long: (what) => `${what} is the key, and is too long:`,
      duplicate_key: () => "the key already exists:",
      too_few_cells: () => "the row has too few cells:",
      too_many_cells: () => "the row has too many cells:",
      not_utf8: () => 'the row is not in UTF-8: save the file as "CSV UTF-8"',
      malformed_json: () => "the line is not valid JSON:",
      not_an_object: () => "the line is not a JSON object",
      unterminated_quote: () => "a quote is not closed:",
      row_too_long: () => "the row is too long:",
      number_too_long: () => "a number has too many digits: write it as text",
      number_out_of_range: (what) => `${what} is a number out of range`,
      property_without_name: () => "a value has no name",
      record_too_large: () => "the row is too large:",
      record_too_deep: (what) => `${what} is nested too deeply`,
      record_refused: () => "the row could not be written:",
      retries_exhausted: () => "the row failed in every attempt, and may have been written anyway:",
      row_too_complex: () => "the row is too complex to check:",
      schema_violation: () => "the row does not match the schema:",
      handler_panicked: () => "an error on our side; the row may have been written anyway",
      dead_lettered: () => "an error on our side; the row may have been written anyway",
    } as Record<string, (what: string) => string>,
    bySchema: (what: string) => `${what} does not match the schema:`,
    part: (read: number, all: number) => `Based on the first ${number(read)} of ${number(all)} failed rows.`,
    correct: "Fix the failed rows",
    correctSteps: [
      "Download the failed rows.",
      "Correct them in a spreadsheet. Delete the ones that you do not need.",
      "Drop the file here. Only its rows run again.",
    ],
    download: (count: number) => `Download ${plural(count, "row", "rows")}`,
    drop: "Drop the corrected file here",
    choose: "or choose it",
    retrying: "Running the corrected rows...",
  },

  jobs: {
    title: "Jobs",
    filter: "Status",
    all: "All",
    none: "No jobs yet.",
    noneOfStatus: "No jobs with this status.",
    what: "Job",
    status: "Status",
    progress: "Rows",
    failed: "Failed",
    created: "Created",
    actions: "Actions",
    delete: "Delete",
    deleteOf: (name: string) => `Delete ${name}`,
    deleted: (name: string) => `${name} is deleted`,
    caption: "Jobs, newest first",
    check: "Check",
  },

  status: {
    waiting: "Waiting",
    running: "Running",
    completed: "Completed",
    failed: "Failed",
    canceled: "Canceled",
  },

  confirm: {
    deleteTitle: "Delete this job?",
    deleteBody:
      "This deletes its file and its report, and stops the job if it is running. Imported records remain.",
    delete: "Delete job",
    keep: "Keep it",
  },

  datasets: {
    title: "Datasets",
    none: "No datasets yet. An import creates one.",
    name: "Name",
    created: "Created",
    caption: "Datasets by name",
  },

  records: {
    none: "This dataset has no records.",
    key: "Key",
    updated: "Written",
    caption: (name: string) => `Records of ${name}`,
    back: "All datasets",
  },
};
