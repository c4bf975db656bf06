/**
 * The first rows of a file, for the preview and for the checks before the upload. Reads the first bytes in the
 * browser, and refuses the same files as the server (`shared/domain/src/records/sniff.rs`).
 */

import Papa from "papaparse";
import { nameColumns } from "./column-names";

/** Bytes to read: enough for a header and some rows. */
const HEAD_BYTES = 256 * 1024;
/** Rows to read for the checks. */
export const CHECKED_ROWS = 100;

/** Reasons why a file cannot be read at all. */
export type Unreadable = "unread" | "empty" | "workbook" | "archive" | "pdf" | "binary" | "not-utf8";

/** The first bytes of files that are not text. */
const MAGIC_NUMBERS: [number[], Unreadable][] = [
  [[0xff, 0xfe], "not-utf8"],
  [[0xfe, 0xff], "not-utf8"],
  [[0x50, 0x4b, 0x03, 0x04], "archive"],
  [[0x50, 0x4b, 0x05, 0x06], "archive"],
  [[0x1f, 0x8b], "archive"],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], "pdf"],
  [[0xd0, 0xcf, 0x11, 0xe0], "workbook"],
];

/** The beginning of a file as text. */
interface Head {
  text: string;
  /** True if the text is the whole file. */
  isComplete: boolean;
}

/** A row by column. Has no prototype, since a column may be called `constructor`. */
export type Row = Record<string, unknown>;

/** The beginning of a file as a table. */
export interface Sheet {
  format: "csv" | "json-lines";
  /** The separator of columns; CSV only. */
  delimiter: string;
  /** The names of the columns in the import, or the properties of the first rows. */
  columns: string[];
  /** The first rows. CSV: each cell by its column, without empty ones. JSON Lines: the value of the line. */
  rows: Row[];
  /** The number of cells of each row; CSV only. */
  cellCounts: number[];
  /** Numbers (from 1) of rows that are not JSON objects; JSON Lines only. */
  badLines: number[];
  /** True if the file has no other rows. */
  isComplete: boolean;
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
  Papa.parse<string[]>(head.text, {
    delimiter,
    skipEmptyLines: true,
    step: (result, parser) => {
      records.push(result.data);
      // One row more than needed: the last may be cut off.
      if (records.length > CHECKED_ROWS + 1) parser.abort();
    },
  });
  const [header, ...rest] = records;
  if (!header) return "empty";
  const isComplete = head.isComplete && records.length <= CHECKED_ROWS + 1;
  const kept = isComplete ? rest : rest.slice(0, -1);
  const columns = nameColumns(header);
  return {
    format: "csv",
    delimiter,
    columns,
    rows: kept.map((cells) => byColumn(columns, cells)),
    cellCounts: kept.map((cells) => cells.length),
    badLines: [],
    isComplete,
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

function byColumn(columns: string[], cells: string[]): Row {
  const row: Row = Object.create(null);
  for (const [at, column] of columns.entries()) if (cells[at]) row[column] = cells[at];
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
  const noTable = { delimiter: "", cellCounts: [] };
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

/** Reads the beginning of a file as text, or returns why it is unreadable. */
async function readHead(file: File): Promise<Head | Unreadable> {
  const bytes = await firstBytes(file);
  if (!bytes) return "unread";
  const isComplete = file.size <= HEAD_BYTES;
  const known = MAGIC_NUMBERS.find(([magic]) => magic.every((byte, at) => bytes[at] === byte))?.[1];
  if (known) return known === "archive" && /\.(xlsx|ods)$/i.test(file.name) ? "workbook" : known;
  if (bytes.includes(0)) return "binary";
  const markBytes = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let text: string;
  try {
    // `stream`: the last character may be cut in two.
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(markBytes), {
      stream: !isComplete,
    });
  } catch {
    // An invalid byte fails only its own row. In the header it fails the file.
    text = new TextDecoder().decode(bytes.subarray(markBytes), { stream: !isComplete });
    if (text.slice(0, firstLineEnd(text)).includes("\ufffd")) return "not-utf8";
  }
  return text.trim() === "" && isComplete ? "empty" : { text, isComplete };
}

/** Returns null for a folder, and for a file that was moved or changed after it was picked. */
async function firstBytes(file: File): Promise<Uint8Array | null> {
  try {
    return new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  } catch {
    return null;
  }
}

function firstLineEnd(text: string): number {
  const end = text.indexOf("\n");
  return end < 0 ? text.length : end;
}
