/** All that the page says, in one place, ready to be translated. */

import type { Job } from "longshore-client";

const plural = (count: number, one: string, many: string) => `${number(count)} ${count === 1 ? one : many}`;

/** A whole number with separators. */
export function number(value: number): string {
  return value.toLocaleString("en");
}

/** A number of bytes, as a person says it. */
export function bytes(value: number): string {
  if (value < 1000) return plural(value, "byte", "bytes");
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(value) / 3), units.length);
  const scaled = value / 1000 ** power;
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[power - 1]}`;
}

/** A span of time, as a person says it. */
export function duration(seconds: number): string {
  if (seconds < 1) return "less than a second";
  if (seconds < 120) return plural(Math.round(seconds), "second", "seconds");
  if (seconds < 90 * 60) return plural(Math.round(seconds / 60), "minute", "minutes");
  return plural(Math.round(seconds / 3600), "hour", "hours");
}

/** A moment. */
export function moment(iso: string): string {
  return new Date(iso).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
}

/** What a person knows a job by. */
export function jobName({ fileName, jobType, jobId }: Job): string {
  return fileName ?? `${jobType} ${jobId.slice(-6)}`;
}

export const text = {
  app: "Longshore",
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
  more: "Show more",
  tryAgain: "Try again",
  close: "Close",
  unreachable: "The server cannot be reached. Check your connection.",
  offline: "No connection. This page goes on by itself as soon as there is one.",
  notFound: {
    title: "There is nothing here",
    body: "The address may be wrong, or what was here has been deleted.",
    home: "Import a file",
  },
  failed: "Something went wrong",
  request: (id: string) => `Request ${id}`,

  session: {
    title: "Sign in to import files",
    body: "You will come back to this page.",
    expiredTitle: "Your session has ended",
    expiredBody: "Sign in again to go on where you were. Nothing is lost: jobs run on without you.",
    expiredHere: "Sign in again in another tab. This one stays as it is, and goes on by itself.",
    signIn: "Sign in",
    signInTab: "Sign in in another tab",
    signOut: "Sign out",
    errors: {
      refused: "The sign-in did not work.",
      unreachable: "The sign-in page does not answer. Check your connection; if it lasts, ask who runs this page.",
    },
    noName: "Signed in",
  },

  file: {
    title: "Import a file",
    lead: "Rows that are right are imported. You get back exactly those that are not, and why.",
    drop: "Drop a CSV or JSON Lines file here",
    choose: "or choose a file",
    another: "Choose another file",
    remove: "Remove this file",
    uploading: (percent: number) => `Uploading, ${percent}%`,
    uploaded: "Uploaded",
    uploadFailed: (reason: string) => `The upload failed: ${reason}`,
    uploadProgress: "Upload",
    found: (format: string, rows: string) => `${format}, ${rows}`,
    csvBy: (delimiter: string) => `CSV, columns separated by ${delimiter}`,
    jsonLines: "JSON Lines",
    columns: (count: number) => plural(count, "column", "columns"),
    delimiters: { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" } as Record<string, string>,
    wrongType: "This is no CSV or JSON Lines file. Its name must end in .csv, .jsonl or .ndjson.",
    empty: "This file is empty.",
  },

  unreadable: {
    empty: "This file is empty.",
    workbook: 'This is a workbook. Save it as "CSV UTF-8" in your spreadsheet program, and drop that file.',
    archive: "This is an archive. Unpack it, and drop the CSV file that is inside.",
    pdf: "This is a PDF document. Rows cannot be read from it.",
    binary: "This is no text file.",
    "not-utf8":
      'This file is not in UTF-8. Save it as "CSV UTF-8" in your spreadsheet program, and drop that file.',
  },

  preview: {
    title: "First rows",
    caption: "The first rows of the file",
    row: "Row",
  },

  options: {
    title: "Where it goes",
    dataset: "Dataset",
    datasetHint: "Letters, digits, - and _. A new name makes a new dataset.",
    datasetBad: "A name has 1 to 64 letters, digits, - and _.",
    key: "Key",
    keyHint: "The column that tells one record from another.",
    keyNone: "Choose a column",
    mode: "What to do",
    modes: {
      upsert: ["Import", "Rows whose key is there already replace the record."],
      insert: ["Import new ones only", "Rows whose key is there already fail."],
      validate: ["Check only", "Writes nothing. You can start the import afterwards."],
    } as Record<"upsert" | "insert" | "validate", [string, string]>,
    schema: "Schema",
    schemaHint: "A JSON Schema file that each row must meet. Without one, every row with a key is right.",
    schemaChoose: "Choose a schema",
    schemaRemove: "Remove the schema",
    schemaBad: (name: string) => `${name} is no JSON Schema with properties.`,
    schemaKept: (name: string, count: number) => `${name}, ${plural(count, "field", "fields")}`,
  },

  mapping: {
    title: "Columns",
    caption: "Which column of the file is which field",
    field: "Field",
    column: "Column of the file",
    example: "First value",
    required: "required",
    none: "Not in the file",
    columnOf: (field: string) => `Column for ${field}`,
    others: (columns: string[]) => `Kept under their own names: ${columns.join(", ")}`,
  },

  problems: {
    title: "This would fail every row",
    delimiter: (found: string) =>
      `The columns are separated by ${found}. Only commas are read: save the file as comma-separated CSV.`,
    "duplicate-column": (column: string) => `Two columns are called "${column}". Rename one of them.`,
    "no-rows": "The file has a header and no rows.",
    "no-key": (key: string) => `There is no column "${key}", which is the key.`,
    "missing-field": (field: string) => `"${field}" is required, and no column is mapped to it.`,
    "unknown-columns": (columns: string[]) => `The schema allows no other columns: ${columns.join(", ")}.`,
    "not-json": "No line is a JSON object. Each line must be one.",
    "every-row": (field: string, reason: string, rows: number) =>
      `"${field}" fails in ${rows === 1 ? "the first row" : `each of the first ${rows} rows`}: ${reason}`,
  },

  start: {
    import: "Start import",
    validate: "Start check",
    waiting: "Starts when the upload is done...",
    creating: "Starting...",
  },

  job: {
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
    startedAs: "See the import that was started",
    startedFrom: "See the check that it came from",
    announced: (percent: number) => `${percent} percent`,
    issues: "Good to know",
    files: "Files",
    fileNames: {
      failed: "Failed rows, to be mended",
      skipped: "Skipped rows",
      unprocessed: "Rows that were not worked",
      receipt: "Receipt",
    },
    fileRows: (count: number) => plural(count, "row", "rows"),
    allRight: "Every row succeeded.",
    dataset: (name: string) => `See the records of ${name}`,
  },

  failures: {
    title: "Rows that failed",
    byReason: "By reason",
    rows: "Row by row",
    reason: "Reason",
    count: "Rows",
    row: "Row",
    column: "Column",
    value: "Value",
    example: "For example",
    none: "-",
    part: (read: number, all: number) => `Of the first ${number(read)} of ${number(all)} failed rows.`,
    mend: "Mend them and drop them back",
    mendSteps: [
      "Download the failed rows.",
      "Correct them in a spreadsheet. Delete those that you give up.",
      "Drop the file here. Only those rows run again.",
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
    noneOfStatus: "No jobs of this status.",
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
      "Its file and its report are removed; if it runs, it is stopped. Records that it imported stay.",
    delete: "Delete job",
    keep: "Keep it",
  },

  datasets: {
    title: "Datasets",
    none: "No datasets yet. An import makes one.",
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
