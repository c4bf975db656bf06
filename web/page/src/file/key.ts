/** The key column: a guess, and warnings about the user's choice. */

import type { Row, Sheet } from "./sheet";

/** Common names of key columns, the most common first. */
const COMMON_NAMES = ["id", "key", "email", "sku", "code", "uuid", "number"];

/** Properties of a key column that may be unintended. */
export type KeyProblem =
  | { kind: "key-empty"; key: string; rows: number; of: number }
  | { kind: "key-repeats"; key: string; value: string };

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

/**
 * Returns warnings about a key column's values in the rows that were read. `name` is the column's name in the
 * import.
 */
export function keyProblems(rows: Row[], column: string, name: string): KeyProblem[] {
  const values = rows.map((row) => row[column] ?? "").filter((value) => value !== "");
  const problems: KeyProblem[] = [];
  const empty = rows.length - values.length;
  if (empty > 0) problems.push({ kind: "key-empty", key: name, rows: empty, of: rows.length });
  const seen = new Set<string>();
  const twice = values.map(String).find((value) => seen.size === seen.add(value).size);
  if (twice !== undefined) problems.push({ kind: "key-repeats", key: name, value: twice });
  return problems;
}
