/** Problems and warnings of a file, found before the upload, and a guess of its key column. */

import { type Mapping, renamed, renameRow } from "./mapping";
import { type Schema, validateRows } from "./schema";
import type { Row, Sheet } from "./sheet";

/** Common names of key columns, the most common first. */
const COMMON_NAMES = ["id", "key", "email", "sku", "code", "uuid", "number"];

/** A problem or a warning of a whole file. */
export type FileProblem =
  | { kind: "delimiter"; delimiter: string }
  | { kind: "duplicate-column"; column: string }
  | { kind: "no-rows" }
  | { kind: "no-key"; key: string }
  | { kind: "missing-field"; field: string }
  | { kind: "unknown-columns"; columns: string[] }
  | { kind: "not-json" }
  | FileWarning;

/** A finding that the server may judge differently, or that does not affect every row. */
type FileWarning =
  | KeyProblem
  | { kind: "bad-lines"; lines: number[] }
  | { kind: "cells"; more: boolean; rows: number }
  | { kind: "every-row"; field: string; reason: string; rows: number }
  | { kind: "schema-not-supported" };

/** Properties of a key column that may be unintended. */
type KeyProblem =
  | { kind: "key-empty"; key: string; rows: number; of: number }
  | { kind: "key-repeats"; key: string; value: string };

/** Problems that fail every row. They prevent the start. */
const BLOCKING: ReadonlySet<FileProblem["kind"]> = new Set([
  "delimiter",
  "duplicate-column",
  "no-rows",
  "no-key",
  "missing-field",
  "unknown-columns",
  "not-json",
] as const);

/** Returns true if no row of the file can succeed. */
export function isBlocking({ kind }: FileProblem): boolean {
  return BLOCKING.has(kind);
}

/** The user's choices. */
export interface CheckedChoices {
  /** A column of the file; empty if there is none. */
  key: string;
  schema: Schema | null;
  mapping: Mapping;
}

/** Returns the blocking problems, or else the warnings. */
export function findProblems(sheet: Sheet, choices: CheckedChoices): FileProblem[] {
  const blocking = structureProblems(sheet) ?? columnProblems(sheet, choices);
  return blocking.length > 0 ? blocking : findWarnings(sheet, choices);
}

/** Returns null if the file's structure is valid, so that its columns can be checked. */
function structureProblems(sheet: Sheet): FileProblem[] | null {
  if (sheet.format === "json-lines") {
    return sheet.rows.length === 0 && sheet.badLines.length > 0 ? [{ kind: "not-json" }] : null;
  }
  if (sheet.delimiter !== ",") return [{ kind: "delimiter", delimiter: sheet.delimiter }];
  return sheet.rows.length === 0 && sheet.isComplete ? [{ kind: "no-rows" }] : null;
}

/** JSON Lines have no header: each line can have different properties. */
function columnProblems(sheet: Sheet, { key, schema, mapping }: CheckedChoices): FileProblem[] {
  if (sheet.format === "json-lines") return [];
  const names = renamed(sheet.columns, mapping);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return [{ kind: "duplicate-column", column: twice }];
  const problems: FileProblem[] = [];
  if (key !== "" && !sheet.columns.includes(key)) problems.push({ kind: "no-key", key });
  if (!schema) return problems;
  const missing = schema.fields.filter((field) => field.required && !names.includes(field.name));
  problems.push(...missing.map(({ name }): FileProblem => ({ kind: "missing-field", field: name })));
  const unknown = unknownColumns(schema, names, sheet, mapping);
  if (unknown.length > 0) problems.push({ kind: "unknown-columns", columns: unknown });
  return problems;
}

/**
 * Returns the columns that the schema forbids, if every row has a value in one of them. An empty cell is not
 * a property.
 */
function unknownColumns(
  { document, fields }: Schema,
  names: string[],
  sheet: Sheet,
  mapping: Mapping,
): string[] {
  if (document.additionalProperties !== false) return [];
  const known = new Set(fields.map(({ name }) => name));
  const patterns = Object.keys(document.patternProperties ?? {});
  const unknown = names.filter((name) => !known.has(name) && !patterns.some((it) => mayMatch(it, name)));
  const rows = sheet.rows.map((row) => renameRow(row, mapping));
  const failsAll = rows.length > 0 && rows.every((row) => unknown.some((name) => name in row));
  return failsAll ? unknown : [];
}

/** A pattern that the browser cannot compile may match anything. */
function mayMatch(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, "u").test(name);
  } catch {
    return true;
  }
}

function findWarnings(sheet: Sheet, { key, schema, mapping }: CheckedChoices): FileWarning[] {
  const [name = ""] = renamed([key], mapping);
  const warnings: FileWarning[] = key === "" ? [] : keyProblems(sheet.rows, key, name);
  if (sheet.badLines.length > 0) warnings.push({ kind: "bad-lines", lines: sheet.badLines });
  warnings.push(...cellCountWarnings(sheet));
  if (schema) warnings.push(...everyRowWarnings(sheet, schema, mapping));
  return warnings;
}

/**
 * Returns warnings about a key column's values in the rows that were read. `name` is the column's name in the
 * import.
 */
function keyProblems(rows: Row[], column: string, name: string): KeyProblem[] {
  const values = rows.map((row) => row[column] ?? "").filter((value) => value !== "");
  const problems: KeyProblem[] = [];
  const empty = rows.length - values.length;
  if (empty > 0) problems.push({ kind: "key-empty", key: name, rows: empty, of: rows.length });
  const seen = new Set<string>();
  const twice = values.map(String).find((value) => seen.size === seen.add(value).size);
  if (twice !== undefined) problems.push({ kind: "key-repeats", key: name, value: twice });
  return problems;
}

/** A row whose number of cells differs from the header's fails. */
function cellCountWarnings({ columns, cellCounts }: Sheet): FileWarning[] {
  const rows = cellCounts.length;
  if (rows === 0) return [];
  if (cellCounts.every((count) => count > columns.length)) return [{ kind: "cells", more: true, rows }];
  return cellCounts.every((count) => count < columns.length) ? [{ kind: "cells", more: false, rows }] : [];
}

/** Returns the violations that all of the first rows share. */
function everyRowWarnings(sheet: Sheet, schema: Schema, mapping: Mapping): FileWarning[] {
  const named = sheet.rows.map((row) => renameRow(row, mapping));
  const rows = validateRows(schema, named, sheet.format === "csv");
  if (!rows) return [{ kind: "schema-not-supported" }];
  const [first, ...rest] = rows;
  const shared = [...(first ?? [])].filter(([name]) => rest.every((row) => row.has(name)));
  return shared.map(([field, reason]) => ({ kind: "every-row", field, reason, rows: rows.length }));
}

/**
 * Guesses the key column: one with a common name, by its own name or by its mapped name in `names`; else the
 * first with distinct values; else the first. Empty if there are no columns.
 */
export function guessKey(sheet: Sheet, names: string[]): string {
  const isNamed = (at: number, name: string) =>
    [sheet.columns[at], names[at]].some((own) => own?.toLowerCase() === name);
  const common = COMMON_NAMES.map((name) => sheet.columns.find((_, at) => isNamed(at, name))).find(Boolean);
  const distinct = sheet.columns.find((column) => keyProblems(sheet.rows, column, column).length === 0);
  return common ?? distinct ?? sheet.columns[0] ?? "";
}
