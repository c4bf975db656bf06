/** Texts of exports. */

import { number, plural } from "./format";

export const exportsText = {
  exports: {
    open: "Export",
    title: (dataset: string) => `Export ${dataset}`,
    format: "Format",
    formats: {
      csv: ["CSV", "For a spreadsheet. Cells that it would run as formulas are escaped."],
      xlsx: ["Excel workbook", "For a spreadsheet. Numbers of more than 15 digits are text."],
      jsonl: ["JSON Lines", "For a program, or for an exact import. Keeps every value."],
    } as Record<"csv" | "xlsx" | "jsonl", [string, string]>,
    file: "File",
    gzip: "Compress with gzip",
    gzipHint: "For large files.",
    bom: "Mark as UTF-8",
    bomHint: "Excel then shows all characters correctly.",
    delimiter: "Delimiter",
    delimiters: { ",": "Comma", ";": "Semicolon", "\t": "Tab" },
    columns: (included: number, all: number) =>
      included === all
        ? `All ${plural(all, "column", "columns")}`
        : `${number(included)} of ${plural(all, "column", "columns")}`,
    columnsHint: "Choose columns, and change their names in the file.",
    headingOf: (name: string) => `Name of ${name} in the file`,
    columnsProblems: {
      none: () => "Choose at least one column.",
      unnamed: () => "Every chosen column needs a name in the file.",
      repeated: (heading: string) =>
        `Two columns have the name "${heading}" in the file. Give one of them another name.`,
    },
    start: "Start export",
    download: (count: number) => `Download ${plural(count, "record", "records")}`,
    empty: "There were no records to export.",
  },
};
