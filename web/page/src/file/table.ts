/** The first rows of a file as a table, from the answer of an inspection. */

import type { Inspection } from "longshore-client";

/** A row, with the reason why it would fail. */
export interface TableRow {
  /** The number of the row in a job. */
  number: number;
  /** The row of the sheet; null if the file is no workbook. */
  sheetRow: number | null;
  /** The cells of the columns, in their order. */
  cells: string[];
  /** The text of a line that has no columns; JSON Lines only. */
  line: string | null;
  problem: RowProblem | null;
}

export type RowProblem = NonNullable<Inspection["rows"][number]["problem"]>;

export interface Table {
  /** The names of the columns in a job, or the properties of the first rows. */
  columns: string[];
  rows: TableRow[];
}

/** Returns the columns and the first rows that an inspection has found. */
export function tableOf({ format, columns, rows }: Pick<Inspection, "format" | "columns" | "rows">): Table {
  if (format === "jsonl") return lines(rows);
  const table = rows.map((row) => ({ ...row, line: null }));
  return { columns: columns.map(({ name }) => name), rows: table };
}

function lines(rows: Inspection["rows"]): Table {
  const parsed = rows.map((row) => ({
    row,
    line: row.cells[0] ?? "",
    value: parseObject(row.cells[0] ?? ""),
  }));
  const columns = [...new Set(parsed.flatMap(({ value }) => [...(value?.keys() ?? [])]))];
  const table = parsed.map(({ row: { number, sheetRow, problem }, line, value }) => ({
    number,
    sheetRow,
    cells: value ? columns.map((column) => cellText(value.get(column))) : [],
    line: value ? null : line,
    problem,
  }));
  return { columns, rows: table };
}

function parseObject(line: string): Map<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? new Map(Object.entries(value)) : null;
  } catch {
    return null;
  }
}

/** Returns true if rows have a place in a sheet, which people look for in their workbook. */
export function haveSheetRows(rows: readonly { sheetRow: number | null }[]): boolean {
  return rows.some(({ sheetRow }) => sheetRow !== null);
}

/** Formats a value for a cell. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Rows that fail for the same reason. */
export interface ProblemGroup {
  /** The problem of the first of them. */
  problem: RowProblem;
  rows: number;
}

/** Groups the problems of rows by code and field, the most frequent first. */
export function problemGroups(rows: readonly TableRow[]): ProblemGroup[] {
  const groups = new Map<string, ProblemGroup>();
  for (const { problem } of rows) {
    if (!problem) continue;
    const name = JSON.stringify([problem.code, problem.field]);
    const group = groups.get(name) ?? { problem, rows: 0 };
    groups.set(name, { ...group, rows: group.rows + 1 });
  }
  return [...groups.values()].sort((first, second) => second.rows - first.rows);
}
