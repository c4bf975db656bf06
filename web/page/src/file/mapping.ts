/** Column mapping: from a schema's fields to a file's columns. The import gets it in its options. */

import type { Field } from "./schema";

/** The column of each field; a field without a column is missing. */
export type Mapping = ReadonlyMap<string, string>;

/** The mapping that renames no column. */
export const UNMAPPED: Mapping = new Map();

/**
 * Guesses a mapping by name: equal, then equal except for case and punctuation, then contained in the other.
 */
export function guessMapping(fields: readonly Field[], columns: readonly string[]): Mapping {
  const free = new Set(columns);
  const mapping = new Map<string, string>();
  const rules: ((field: string, column: string) => boolean)[] = [
    (field, column) => field === column,
    (field, column) => normalized(field) === normalized(column),
    (field, column) => contains(words(field), words(column)) || contains(words(column), words(field)),
  ];
  for (const rule of rules) {
    for (const { name } of fields) {
      const column = mapping.has(name) ? undefined : [...free].find((column) => rule(name, column));
      if (column === undefined) continue;
      mapping.set(name, column);
      free.delete(column);
    }
  }
  return mapping;
}

/** Returns the properties of columns, in order; null for a column that is left out. */
export function propertiesOf(
  columns: readonly string[],
  mapping: Mapping,
  leftOut: ReadonlySet<string>,
): (string | null)[] {
  const fieldOf = new Map([...mapping].map(([field, column]) => [column, field]));
  return columns.map((column) => fieldOf.get(column) ?? (leftOut.has(column) ? null : column));
}

/** Returns the import's option `columns`: the properties of columns with other names, and null for those left out. */
export function columnsOption(
  columns: readonly string[],
  properties: readonly (string | null)[],
): Record<string, string | null> {
  const pairs = columns.map((column, at): [string, string | null] => [column, properties[at] ?? null]);
  return Object.fromEntries(pairs.filter(([column, property]) => column !== property));
}

function normalized(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function words(name: string): string[] {
  const spaced = name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return spaced.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

function contains(all: string[], some: string[]): boolean {
  return some.length > 0 && some.join("").length > 2 && some.every((word) => all.includes(word));
}
