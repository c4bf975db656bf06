/** Texts for choosing and checking a file, and for starting its import. */

import { eachOf, number, plural } from "./format";

export const fileText = {
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
    archive: "This is an archive. Unpack it, and drop the CSV file in it.",
    pdf: "This is a PDF document. Rows cannot be read from PDF.",
    binary: "This is not a text file.",
    "not-utf8":
      'This file is not encoded in UTF-8. Save it as "CSV UTF-8" in your spreadsheet program, and drop that file.',
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
    datasetBad: "A name has 1 to 64 characters: letters, digits, - and _.",
    key: "Key",
    keyHint: "The column that identifies a record.",
    keyNone: "Choose a column",
    mode: "What to do",
    modes: {
      upsert: ["Import", "A row with an existing key replaces the record."],
      insert: ["Import new rows only", "A row with an existing key fails."],
      update: ["Update existing records only", "A row whose key does not exist fails."],
      delete: ["Delete records", "Deletes the record of each row's key. This cannot be undone."],
      validate: ["Check only", "Writes nothing. You can start the import afterwards."],
    } as Record<"upsert" | "insert" | "update" | "delete" | "validate", [string, string]>,
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
      `The columns are separated by ${found}. Only commas are supported: save the file as comma-separated CSV.`,
    "duplicate-column": (column: string) =>
      `Two columns are imported as "${column}". Map or rename one of them.`,
    "no-rows": "The file has a header but no rows.",
    "no-key": (key: string) => `The key column "${key}" is not in the file.`,
    "missing-field": (field: string) => `"${field}" is required, and no column is mapped to it.`,
    "unknown-columns": (columns: string[]) =>
      `The schema does not allow these columns: ${columns.join(", ")}.`,
    "not-json": "No line is a JSON object. Each line must be a JSON object.",
  },

  warnings: {
    title: "Check this before you start",
    "key-empty": (key: string, rows: number, of: number) =>
      rows === of
        ? `The key "${key}" is empty in ${eachOf(of)}. A row without a key fails.`
        : `The key "${key}" is empty in ${number(rows)} of the first ${number(of)} rows. These rows fail.`,
    "key-repeats": (key: string, value: string) =>
      `The key "${key}" has "${value}" more than once. Rows with the same key become one record.`,
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
    delete: "Delete records",
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
};
