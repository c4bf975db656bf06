/** The request of an export, from the choices of its form. */

import type { JobRequest } from "longshore-client";

/** A file format that a spreadsheet or a program reads. */
export type ExportFormat = "csv" | "xlsx" | "jsonl";

/** Delimiters of CSV. */
export const DELIMITERS = [",", ";", "\t"] as const;

/** A property of the records that were read, and its heading in the file. */
export interface ExportColumn {
  readonly name: string;
  readonly heading: string;
  readonly included: boolean;
}

/** The choices of the form. */
export interface ExportChoices {
  readonly format: ExportFormat;
  readonly gzip: boolean;
  readonly delimiter: (typeof DELIMITERS)[number];
  /** Begin with a byte order mark. */
  readonly bom: boolean;
  /** Properties that the user has left out or renamed; the others are as they are. */
  readonly columns: readonly ExportColumn[];
}

/** A reason why the chosen columns cannot be exported. */
export type ColumnsProblem = { kind: "none" | "unnamed" } | { kind: "repeated"; heading: string };

/** Returns the problem of the chosen columns, or null. Records without properties have no columns to choose. */
export function columnsProblem(columns: readonly ExportColumn[]): ColumnsProblem | null {
  const headings = columns.filter(({ included }) => included).map(({ heading }) => heading);
  if (columns.length > 0 && headings.length === 0) return { kind: "none" };
  if (headings.includes("")) return { kind: "unnamed" };
  const heading = headings.find((heading, at) => headings.indexOf(heading) < at);
  return heading === undefined ? null : { kind: "repeated", heading };
}

/** Returns a column for each property of the records, as it is. */
export function columnsOf(names: readonly string[]): ExportColumn[] {
  return names.map((name) => ({ name, heading: name, included: true }));
}

/**
 * Returns the request of an export. Columns that the user has not changed are left to the API, because the
 * page has read some of the records only.
 */
export function exportRequest(dataset: string, choices: ExportChoices): JobRequest {
  const { format, gzip, delimiter, bom, columns } = choices;
  const isChanged = columns.some(({ name, heading, included }) => !included || heading !== name);
  const chosen = columns
    .filter(({ included }) => included)
    .map(({ name, heading }) => (heading === name || heading === "" ? { name } : { name, as: heading }));
  return {
    jobType: "export",
    source: { dataset },
    results: {
      format,
      // A workbook is compressed already.
      gzip: gzip && format !== "xlsx",
      ...(format === "csv" && { delimiter, bom }),
      ...(isChanged && { columns: chosen }),
    },
  };
}
