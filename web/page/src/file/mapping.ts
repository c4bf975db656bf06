/** Column mapping: from a schema's fields to a CSV file's columns. The import gets it in its options. */

import type { Field } from "./schema";
import type { Row } from "./sheet";

/** The column of each field; a field without a column is missing. */
export type Mapping = ReadonlyMap<string, string>;

/** The mapping that renames no column. */
export const UNMAPPED: Mapping = new Map();

/**
 * Guesses a mapping by name: equal, then equal except for case and punctuation, then contained in the other.
 */
export function guessMapping(fields: Field[], columns: string[]): Mapping {
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

/** Returns the columns' names after mapping, in order. */
export function renamed(columns: string[], mapping: Mapping): string[] {
  const fieldOf = fieldsByColumn(mapping);
  return columns.map((column) => fieldOf.get(column) ?? column);
}

/** Renames the columns of a row to the fields' names. */
export function renameRow(row: Row, mapping: Mapping): Row {
  const fieldOf = fieldsByColumn(mapping);
  const named: Row = Object.create(null);
  for (const [column, value] of Object.entries(row)) named[fieldOf.get(column) ?? column] = value;
  return named;
}

/** Returns the import's option `columns`: the fields of columns with other names. */
export function columnsOption(mapping: Mapping): Record<string, string> {
  const renamedColumns = [...fieldsByColumn(mapping)].filter(([column, field]) => column !== field);
  return Object.fromEntries(renamedColumns);
}

function fieldsByColumn(mapping: Mapping): Map<string, string> {
  return new Map([...mapping].map(([field, column]) => [column, field]));
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
