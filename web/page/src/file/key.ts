/** The column that tells one record from another: a guess, and what is odd about a choice. */

import type { Row, Sheet } from "./sheet";

/** How keys are called, the most usual first. */
const USUAL = ["id", "key", "email", "sku", "code", "uuid", "number"];

/** What of a key column may not be meant. */
export type KeyProblem =
  | { kind: "key-empty"; key: string; rows: number; of: number }
  | { kind: "key-repeats"; key: string; value: string };

/**
 * A column that is called as keys are, by its own name or by `names`, that of the field that it is mapped to. Else the first
 * that has another value in each row; else the first. Empty where there is none.
 */
export function guessKey(sheet: Sheet, names: string[]): string {
  const isUsual = (at: number, name: string) =>
    [sheet.columns[at], names[at]].some((known) => known?.toLowerCase() === name);
  const usual = USUAL.map((name) => sheet.columns.find((_, at) => isUsual(at, name))).find(Boolean);
  const telling = sheet.columns.find((column) => keyProblems(sheet.rows, column, column).length === 0);
  return usual ?? telling ?? sheet.columns[0] ?? "";
}

/** What is odd about a column's values as keys, in the rows that were read. `name` is how the import knows the column. */
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
