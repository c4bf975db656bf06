/** Column mapping: from properties to a file's columns. The import gets it in its options. */

import type { ImportOptions, Inspection } from "longshore-client";
import type { Field } from "./schema";

/** The column of each property; a property without a column is missing. */
export type Mapping = ReadonlyMap<string, string>;

/** The mapping of the dataset's last import or export. */
export type Preset = NonNullable<Inspection["preset"]>;

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

/** Returns the columns that are left out: as the user chooses, else as in the preset. */
export function leftOutColumns(
  columns: readonly string[],
  preset: Preset | null,
  choices: ReadonlyMap<string, boolean>,
): ReadonlySet<string> {
  const before = new Map(Object.entries(preset?.columns ?? {}));
  return new Set(columns.filter((column) => choices.get(column) ?? before.get(column) === null));
}

/** Returns the preset's mapping of columns, and a guess for the fields that it leaves without a column. */
export function suggestMapping(
  columns: readonly string[],
  preset: Preset | null,
  fields: readonly Field[],
): Mapping {
  const free = new Set(columns);
  const known = new Map<string, string>();
  for (const [column, property] of Object.entries(preset?.columns ?? {}))
    if (property !== null && free.delete(column)) known.set(property, column);
  const others = fields.filter(({ name }) => !known.has(name));
  return new Map([...known, ...guessMapping(others, [...free])]);
}

/**
 * Returns a mapping with the user's choices: the columns of fields, empty for none. A column has at most one property,
 * so it is removed from any other.
 */
export function withChoices(mapping: Mapping, choices: Mapping): Mapping {
  const taken = new Set(choices.values());
  const others = [...mapping].filter(([property, column]) => !choices.has(property) && !taken.has(column));
  return new Map([...others, ...choices].filter(([, column]) => column !== ""));
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

/** Returns the import's option `values`: the preset's replacements of cells in the properties that are imported. */
export function valuesOption(
  preset: Preset | null,
  properties: readonly (string | null)[],
): NonNullable<ImportOptions["values"]> {
  return Object.fromEntries(
    Object.entries(preset?.values ?? {}).filter(([property]) => properties.includes(property)),
  );
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
