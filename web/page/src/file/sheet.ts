/** The beginning of a file as rows: what the preview shows, and what is checked before anything is sent. */

import Papa from "papaparse";
import { type Head, readHead, type Unreadable } from "./head";

/** Rows that are read for the checks. */
export const CHECKED_ROWS = 100;

/** A row by its columns. It has no prototype: a column may be called `constructor`. */
export type Row = Record<string, unknown>;

/** What was found. */
export interface Sheet {
  format: "csv" | "json-lines";
  /** How the header's columns are separated; of CSV only. */
  delimiter: string;
  /** The header as it stands, columns without a name among it; of CSV only. */
  header: string[];
  /** Names of the columns that have one, or of the properties that the first rows have. */
  columns: string[];
  /** The first rows: of CSV each cell by its column, an empty one left out; of JSON Lines the value of the line. */
  rows: Row[];
  /** How many cells each of these rows has; of CSV only. */
  cellCounts: number[];
  /** Rows of JSON Lines that are no JSON object, by their number from 1. */
  badLines: number[];
  /** The file has no other rows. */
  whole: boolean;
  /** Bytes before the first row: byte order mark and header. */
  headerBytes: number;
}

/** Whether a file is taken for JSON Lines, by its name as the server does. */
export function isJsonLines(name: string): boolean {
  return /\.(jsonl|ndjson)$/i.test(name);
}

/** Reads it, or says why that cannot be. */
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
      // One more than is shown: the last one may be cut off.
      if (records.length > CHECKED_ROWS + 1) parser.abort();
    },
  });
  const [header, ...rest] = records;
  if (!header) return "empty";
  const complete = head.whole && records.length <= CHECKED_ROWS + 1;
  const kept = complete ? rest : rest.slice(0, -1);
  return {
    format: "csv",
    delimiter,
    header,
    columns: header.filter(Boolean),
    rows: kept.map((cells) => byColumn(header, cells)),
    cellCounts: kept.map((cells) => cells.length),
    badLines: [],
    whole: complete,
    headerBytes: head.markBytes + new TextEncoder().encode(head.text.slice(0, headerChars)).length,
  };
}

/** Only the header tells: cells may hold anything. One with a comma is read by commas, as the import reads it. */
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
  if (!head.whole) lines.pop();
  const filled = lines.filter((line) => line.trim() !== "");
  const rows: Row[] = [];
  const badLines: number[] = [];
  for (const [at, line] of filled.slice(0, CHECKED_ROWS).entries()) {
    const row = parseObject(line);
    if (row) rows.push(row);
    else badLines.push(at + 1);
  }
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const whole = head.whole && filled.length <= CHECKED_ROWS;
  const noTable = { delimiter: "", header: [], cellCounts: [], headerBytes: 0 };
  return { format: "json-lines", ...noTable, columns, rows, badLines, whole };
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
