/** The beginning of a file as rows: what the preview shows, and what is checked before anything is sent. */

import Papa from "papaparse";
import { type Head, readHead, type Unreadable } from "./head";

/** Rows that are read for the checks. */
export const CHECKED_ROWS = 100;

/** What was found. */
export interface Sheet {
  format: "csv" | "json-lines";
  /** How columns are separated; of CSV only. */
  delimiter: string;
  /** Names of the columns, or of the properties that the first rows have. */
  columns: string[];
  /** The first rows: of CSV each cell by its column, an empty one left out; of JSON Lines the value of the line. */
  rows: Record<string, unknown>[];
  /** Lines of JSON Lines that are no JSON object, by their number from 1. */
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
  const columns = header.map((name, at) => name.trim() || `column_${at + 1}`);
  const kept = complete ? rest : rest.slice(0, -1);
  return {
    format: "csv",
    delimiter,
    columns,
    rows: kept.map((cells) => byColumn(columns, cells)),
    badLines: [],
    whole: complete,
    headerBytes: head.markBytes + new TextEncoder().encode(head.text.slice(0, headerChars)).length,
  };
}

function guessDelimiter(text: string): string {
  const guess = Papa.parse(text, { preview: 20, skipEmptyLines: true });
  return guess.meta.delimiter || ",";
}

function byColumn(columns: string[], cells: string[]): Record<string, unknown> {
  const filled = columns.flatMap((column, at): [string, string][] =>
    cells[at] ? [[column, cells[at]]] : [],
  );
  return Object.fromEntries(filled);
}

function jsonLines(head: Head): Sheet {
  const lines = head.text.split("\n");
  if (!head.whole) lines.pop();
  const filled = lines.filter((line) => line.trim() !== "");
  const rows: Record<string, unknown>[] = [];
  const badLines: number[] = [];
  for (const [at, line] of filled.slice(0, CHECKED_ROWS).entries()) {
    const row = parseObject(line);
    if (row) rows.push(row);
    else badLines.push(at + 1);
  }
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const whole = head.whole && filled.length <= CHECKED_ROWS;
  return { format: "json-lines", delimiter: "", columns, rows, badLines, whole, headerBytes: 0 };
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
