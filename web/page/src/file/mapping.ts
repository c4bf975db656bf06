/**
 * Which column of a CSV file is which field of the schema. The import goes by names, so a mapping is a new header: the
 * file is sent with its first line replaced, and everything after it as it is.
 */

import Papa from "papaparse";
import type { Field } from "./schema";
import type { Sheet } from "./sheet";

/** Field to column; a field that no column has is missing. */
export type Mapping = Record<string, string>;

/** Guesses it by names: equal, then alike but for case and punctuation, then one part of the other. */
export function guessMapping(fields: Field[], columns: string[]): Mapping {
  const free = new Set(columns);
  const mapping: Mapping = {};
  const alike: ((field: string, column: string) => boolean)[] = [
    (field, column) => field === column,
    (field, column) => plain(field) === plain(column),
    (field, column) => contains(words(field), words(column)) || contains(words(column), words(field)),
  ];
  for (const rule of alike) {
    for (const { name } of fields) {
      const column = name in mapping ? undefined : [...free].find((column) => rule(name, column));
      if (column === undefined) continue;
      mapping[name] = column;
      free.delete(column);
    }
  }
  return mapping;
}

/** Names of the columns once the mapping is applied, in order. */
export function renamed(columns: string[], mapping: Mapping): string[] {
  const fieldOf = new Map(Object.entries(mapping).map(([field, column]) => [column, field]));
  return columns.map((column) => fieldOf.get(column) ?? column);
}

/** A row under the names of the fields. */
export function renameRow(row: Record<string, unknown>, mapping: Mapping): Record<string, unknown> {
  const fieldOf = new Map(Object.entries(mapping).map(([field, column]) => [column, field]));
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [fieldOf.get(column) ?? column, value]),
  );
}

/** The file that is sent: the very same one if the mapping changes no name. */
export function applyMapping(file: File, sheet: Sheet, mapping: Mapping): File {
  const names = renamed(sheet.columns, mapping);
  if (sheet.format !== "csv" || names.every((name, at) => name === sheet.columns[at])) return file;
  const header = Papa.unparse([names], { delimiter: sheet.delimiter });
  return new File([`${header}\r\n`, file.slice(sheet.headerBytes)], file.name, { type: file.type });
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function words(name: string): string[] {
  const spaced = name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return spaced.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

function contains(all: string[], some: string[]): boolean {
  return some.length > 0 && some.join("").length > 2 && some.every((word) => all.includes(word));
}
