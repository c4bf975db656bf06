/** Texts for choosing a file, for the options of its import, and for its start. */

import { listed, plural } from "./format";

const MARKUP = "Open it in the spreadsheet program, save it as CSV and choose that.";

/** What to do with files that are no tables, by the end of their names, in the words of the API. */
const WRONG_TYPES = new Map([
  [
    "pdf",
    "The file is a PDF document. Export the table as CSV from the program that created it and choose that.",
  ],
  ["html", `The file is a web page (HTML), not a table. ${MARKUP}`],
  ["htm", `The file is a web page (HTML), not a table. ${MARKUP}`],
  ["xml", `The file is an XML document, not a table. ${MARKUP}`],
  [
    "json",
    "The name of JSON Lines must end in .jsonl or .ndjson. If the file is a JSON array, write each of its objects on a " +
      "line of its own (JSON Lines) and choose that.",
  ],
]);

export const fileText = {
  file: {
    title: "Import a file",
    lead: "Valid rows are imported. You get back exactly the invalid ones, each with the reason.",
    drop: "Drop a CSV, JSON Lines or Excel file here",
    choose: "or choose a file",
    remove: "Remove this file",
    uploading: (percent: number) => `Uploading, ${percent}%`,
    uploaded: "Uploaded",
    uploadProgress: "Upload",
    wrongType: (types: readonly string[], extension: string) => {
      // Other uploads, such as corrected rows, may not take JSON Lines.
      const known = types.includes(".jsonl") ? WRONG_TYPES.get(extension) : undefined;
      if (known) return known;
      const ends = `${types.slice(0, -1).join(", ")} or ${types.at(-1)}`;
      const workbooks = types.includes(".xlsx") ? " Save other workbooks as .xlsx." : "";
      return `This type of file cannot be read. The name must end in ${ends}.${workbooks}`;
    },
    empty: "This file is empty.",
    unreadable:
      "This file cannot be read. Folders cannot be imported. If the file was moved or changed, choose it again.",
  },

  options: {
    title: "Import options",
    dataset: "Dataset",
    datasetHint: "Letters, digits, - and _. A new name creates a new dataset.",
    datasetBad: "A name has 1 to 64 characters: letters, digits, - and _.",
    key: "Key",
    keyHint: "The column that identifies a record.",
    keyNone: "Choose a column",
    keyUnknown: "No columns are known",
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
    others: (columns: string[]) => `Imported under their own names: ${listed(columns)}`,
    leftOut: (columns: string[]) => `Left out: ${listed(columns)}`,
    chooseOthers: "Choose columns to leave out",
    otherColumns: "Imported columns",
  },

  preset: {
    used: (dataset: string) => `Columns are matched as in the last import or export of ${dataset}.`,
    unused: "Columns are matched by name.",
    replaced: (properties: string[]) => `Cells are replaced as before in: ${listed(properties)}`,
    ignore: "Match by name instead",
    use: "Match as before",
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
    missing: (columns: string[], sheet: string) =>
      `The first row of the sheet "${sheet}" has no column ${columns.map((name) => `"${name}"`).join(", ")}. Download the failed rows, correct the cells, and keep the first row.`,
  },
};
