/** The key column of a file: a guess, and a value that it has more than once. */

import type { Table, TableRow } from "./table";

/** Common names of key columns, the most common first. */
const COMMON_NAMES = ["id", "key", "email", "sku", "code", "uuid", "number"];

/**
 * Guesses the key column: that of the preset's key; else one with a common name, by its own name or by its property in
 * `properties`; else the first with distinct values; else the first. Columns without a property are left out. Empty if
 * there are no others.
 */
export function guessKey(
  { columns, rows }: Table,
  properties: readonly (string | null)[],
  presetKey: string | null = null,
): string {
  const candidates = columns.flatMap((name, at) => {
    const property = properties[at] ?? null;
    const names = [name.toLowerCase(), property?.toLowerCase()];
    return property === null ? [] : [{ name, at, property, names }];
  });
  const known = candidates.find(({ property }) => property === presetKey);
  const common = COMMON_NAMES.map((name) => candidates.find(({ names }) => names.includes(name)));
  const distinct = candidates.find(({ at }) => isDistinct(rows, at));
  return (known ?? common.find(Boolean) ?? distinct ?? candidates[0])?.name ?? "";
}

function isDistinct(rows: readonly TableRow[], at: number): boolean {
  return (
    rows.every(({ cells }) => cells[at] !== undefined && cells[at] !== "") && repeated(rows, at) === null
  );
}

/** Returns the first value that a column has in more than one of the first rows, or null. */
export function repeatedKey({ columns, rows }: Table, column: string): string | null {
  const at = columns.indexOf(column);
  return at < 0 ? null : repeated(rows, at);
}

function repeated(rows: readonly TableRow[], at: number): string | null {
  const seen = new Set<string>();
  const values = rows.map(({ cells }) => cells[at] ?? "").filter((value) => value !== "");
  return values.find((value) => seen.size === seen.add(value).size) ?? null;
}
