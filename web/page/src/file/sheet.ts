/** The first rows of a file, for the preview and for the checks before the upload. */

import Papa from "papaparse";
import { type Head, readHead, type Unreadable } from "./head";

/** Rows to read for the checks. */
export const CHECKED_ROWS = 100;

/** A row by column. Has no prototype, since a column may be called `constructor`. */
export type Row = Record<string, unknown>;

/** The beginning of a file as a table. */
export interface Sheet {
  format: "csv" | "json-lines";
  /** The separator of columns; CSV only. */
  delimiter: string;
  /** The header, including columns without a name; CSV only. */
  header: string[];
  /** The names of named columns, or the properties of the first rows. */
  columns: string[];
  /** The first rows. CSV: each cell by its column, without empty ones. JSON Lines: the value of the line. */
  rows: Row[];
  /** The number of cells of each row; CSV only. */
  cellCounts: number[];
  /** Numbers (from 1) of rows that are not JSON objects; JSON Lines only. */
  badLines: number[];
  /** True if the file has no other rows. */
  isComplete: boolean;
  /** Bytes before the first row: byte order mark and header. */
  headerBytes: number;
}

/** Returns true if the server reads a file of this name as JSON Lines. */
export function isJsonLines(name: string): boolean {
  return /\.(jsonl|ndjson)$/i.test(name);
}

/** Reads the beginning of a file, or returns why it is unreadable. */
export async function readSheet(file: File): Promise<Sheet | Unreadable> {
  const head = await readHead(file);
  if (typeof head === "string") return head;
  return isJsonLines(file.name) ? jsonLines(head) : csv(head);
}

function csv(head: Head): Sheet | Unreadable {
  const delimiter = guessDelimiter(head.text);
  const records: string[][] = [];
  let headerChars = 0;
  Papa.parse<string[]>(head.text, {
    delimiter,
    skipEmptyLines: true,
    step: (result, parser) => {
      if (records.length === 0) headerChars = result.meta.cursor;
      records.push(result.data);
      // One row more than needed: the last may be cut off.
      if (records.length > CHECKED_ROWS + 1) parser.abort();
    },
  });
  const [header, ...rest] = records;
  if (!header) return "empty";
  const isComplete = head.isComplete && records.length <= CHECKED_ROWS + 1;
  const kept = isComplete ? rest : rest.slice(0, -1);
  return {
    format: "csv",
    delimiter,
    header,
    columns: header.filter(Boolean),
    rows: kept.map((cells) => byColumn(header, cells)),
    cellCounts: kept.map((cells) => cells.length),
    badLines: [],
    isComplete,
    headerBytes: head.markBytes + new TextEncoder().encode(head.text.slice(0, headerChars)).length,
  };
}

/**
 * Guesses the delimiter from the header only, since cells may contain anything. A comma wins, as in the
 * import.
 */
function guessDelimiter(text: string): string {
  const separates = (delimiter: string) => {
    const { data } = Papa.parse<string[]>(text, { delimiter, preview: 1, skipEmptyLines: true });
    return (data[0]?.length ?? 0) > 1;
  };
  return [",", ";", "\t", "|"].find(separates) ?? ",";
}

function byColumn(header: string[], cells: string[]): Row {
  const row: Row = Object.create(null);
  for (const [at, column] of header.entries()) if (column && cells[at]) row[column] = cells[at];
  return row;
}

function jsonLines(head: Head): Sheet {
  const lines = head.text.split("\n");
  if (!head.isComplete) lines.pop();
  const filled = lines.filter((line) => line.trim() !== "");
  const rows: Row[] = [];
  const badLines: number[] = [];
  for (const [at, line] of filled.slice(0, CHECKED_ROWS).entries()) {
    const row = parseObject(line);
    if (row) rows.push(row);
    else badLines.push(at + 1);
  }
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const isComplete = head.isComplete && filled.length <= CHECKED_ROWS;
  const noTable = { delimiter: "", header: [], cellCounts: [], headerBytes: 0 };
  return { format: "json-lines", ...noTable, columns, rows, badLines, isComplete };
}

function parseObject(line: string): Row | null {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? Object.assign(Object.create(null), value) : null;
  } catch {
    return null;
  }
}
