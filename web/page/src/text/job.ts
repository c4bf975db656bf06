/** Texts of jobs and of their failed rows. */

import { number, plural } from "./format";

export const jobText = {
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
    fromItems: (count?: number) =>
      count === undefined ? "Items in the request" : `${plural(count, "item", "items")} in the request`,
    /** Names of jobs over a dataset, by job type. */
    over: {
      "delete-dataset": (dataset) => `Deletion of ${dataset}`,
      export: (dataset) => `Export of ${dataset}`,
    } as Record<string, (dataset: string) => string>,
    overOther: (jobType: string) => (dataset: string) => `${jobType}: ${dataset}`,
    /** Parts of another job, which the end of its id names. */
    copied: {
      results: (job: string) => `Results of job ${job}`,
      failed: (job: string) => `Failed items of job ${job}`,
      skipped: (job: string) => `Skipped items of job ${job}`,
      unprocessed: (job: string) => `Unprocessed items of job ${job}`,
    },
    since: (when: string) => `Records written since ${when}`,
    attempt: (count: number) => `Attempt ${count}`,
    cancel: "Cancel",
    canceling: "Stopping...",
    delete: "Delete",
    retry: "Retry failed rows",
    start: "Start import",
    startedAs: "See the started import",
    startedFrom: "See the original check",
    undoes: "See the import",
    undoneBy: "See its undo",
    undoOf: (name: string) => `Undo of ${name}`,
    previewOf: (name: string) => `Preview of the undo of ${name}`,
    announced: (percent: number) => `${percent} percent`,
    issues: "Warnings",
    files: "Files",
    fileNames: {
      results: "Results",
      failed: "Failed rows, for correction",
      skipped: "Skipped rows",
      unprocessed: "Unprocessed rows",
      receipt: "Receipt",
    },
    fileRows: (count: number) => plural(count, "row", "rows"),
    allRight: "Every row succeeded.",
    /** The import's state by its undo. */
    undone: {
      active: "This import is being undone.",
      completed: "This import was undone. Records that were changed since have stayed as they are.",
      partly: "An undo of this import has begun, but has not completed.",
      unknown: "An undo of this import was created.",
    },
    allChecked: "Every row is valid.",
    checkedBad: (count: number) =>
      `${count === 1 ? "The row that failed" : `The ${number(count)} rows that failed`} will fail in the import too. Start it ` +
      "and correct them afterwards, or correct the file and drop it as a new import.",
    checkedBadStarted: "The same rows fail in the import. Correct them there.",
    another: "Import another file",
    dataset: (name: string) => `See the records of ${name}`,
  },

  undo: {
    button: "Undo this import",
    title: "Undo this import?",
    body:
      "Records that the import created are deleted, and records that it overwrote get their previous version back. Records " +
      "that were changed since stay as they are.",
    counting: "Counting what an undo would do...",
    wrote: (count: number) => `The import wrote ${plural(count, "row", "rows")}`,
    undone: (count: number) =>
      count === 1
        ? "1 row: its record will be as before the import, or already is"
        : `${number(count)} rows: their records will be as before the import, or already are`,
    stays: (count: number) =>
      `${plural(count, "row", "rows")} will be skipped: their records were changed since, or were not written by this import`,
    unknown: (count: number) =>
      `${plural(count, "row", "rows")} cannot be undone: no previous version is stored`,
    confirm: "Undo import",
    keep: "Keep the import",
    tooEarly:
      "The import has just ended, and one of its workers may still write. Keep this page open: the undo begins by itself.",
    begins: (seconds: number) => `In ${plural(seconds, "second", "seconds")}`,
    done: "The import was undone. Records that were changed since stay as they are.",
    previewed: "Nothing was written.",
  },

  results: {
    title: "Results",
    caption: "Results by row",
    row: "Row",
    output: "Output",
  },

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
     * has more detail.
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
      key_not_found: () => "no record has the key:",
      no_previous_version: () => "no previous version of the record is stored, so it stays as it is",
      too_few_cells: () => "the row has too few cells:",
      too_many_cells: () => "the row has too many cells:",
      not_utf8: () => 'the row is not encoded in UTF-8: save the file as "CSV UTF-8"',
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
      malformed_item: () => "the item cannot be read:",
      handler_failed: () => "the handler failed with this item, and may have worked on it anyway:",
      handler_unavailable: () => "the handler did not respond for too long: retry the job once it does",
      output_too_large: () => "the handler's output is too large:",
      invalid_output: () => "the handler's output does not match its schema:",
      handler_panicked: () => "an error on our side; the row may have been written anyway",
      dead_lettered: () => "an error on our side; the row may have been written anyway",
    } as Record<string, (what: string) => string>,
    bySchema: (what: string) => `${what} does not match the schema:`,
    part: (read: number, all: number) => `Based on the first ${number(read)} of ${number(all)} failed rows.`,
    correct: "Fix the failed rows",
    correctSteps: [
      "Download the failed rows.",
      "Correct them in a spreadsheet. Delete rows that you do not need.",
      "Drop the file here. Only its rows are retried.",
    ],
    download: (count: number) => `Download ${plural(count, "row", "rows")}`,
    drop: "Drop the corrected file here",
    choose: "or choose it",
    retrying: "Retrying the corrected rows...",
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
    deleted: (name: string) => `${name} was deleted`,
    caption: "Jobs, newest first",
    check: "Check",
    /** Badges of an import, by its undo. */
    undone: { active: "Being undone", completed: "Undone", partly: "Partly undone", unknown: "Has an undo" },
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
    deleteFiles: "This deletes the job's files and its report.",
    deleteStops: "The job is stopped.",
    deleteImport: "Imported records remain.",
    deleteUndoable: "Imported records remain, and the import can no longer be undone.",
    deleteUndo: "What it has undone stays undone.",
    deleteRecords: "Deleted records stay deleted.",
    deleteExport: "The records remain.",
    delete: "Delete job",
    keep: "Keep it",
  },
};
