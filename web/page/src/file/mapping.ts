/**
 * Which column of a CSV file is which field of the schema. The import goes by names, so a mapping is a new header: the
 * file is sent with its first line replaced, and everything after it as it is.
 */

import Papa from "papaparse";
import type { Field } from "./schema";
import type { Row, Sheet } from "./sheet";

/** Column by field; a field that no column has is missing. */
export type Mapping = ReadonlyMap<string, string>;

/** No column has another name. */
export const UNMAPPED: Mapping = new Map();

/** Guesses it by names: equal, then alike but for case and punctuation, then one part of the other. */
export function guessMapping(fields: Field[], columns: string[]): Mapping {
  const free = new Set(columns);
  const mapping = new Map<string, string>();
  const alike: ((field: string, column: string) => boolean)[] = [
    (field, column) => field === column,
    (field, column) => plain(field) === plain(column),
    (field, column) => contains(words(field), words(column)) || contains(words(column), words(field)),
  ];
  for (const rule of alike) {
    for (const { name } of fields) {
      const column = mapping.has(name) ? undefined : [...free].find((column) => rule(name, column));
      if (column === undefined) continue;
      mapping.set(name, column);
      free.delete(column);
    }
  }
  return mapping;
}

/** Names of the columns once the mapping is applied, in order. */
export function renamed(columns: string[], mapping: Mapping): string[] {
  const fieldOf = fieldsByColumn(mapping);
  return columns.map((column) => fieldOf.get(column) ?? column);
}

/** A row under the names of the fields. */
export function renameRow(row: Row, mapping: Mapping): Row {
  const fieldOf = fieldsByColumn(mapping);
  const named: Row = Object.create(null);
  for (const [column, value] of Object.entries(row)) named[fieldOf.get(column) ?? column] = value;
  return named;
}

/** The header line that the mapping makes; null if it changes no name. */
export function newHeader(sheet: Sheet, mapping: Mapping): string | null {
  const names = renamed(sheet.header, mapping);
  if (names.every((name, at) => name === sheet.header[at])) return null;
  return Papa.unparse([names], { delimiter: sheet.delimiter });
}

/** The file that is sent: with another header, and of the same date, by which its upload is known again. */
export function withHeader(file: File, sheet: Sheet, header: string | null): File {
  if (header === null) return file;
  const { name, type, lastModified } = file;
  return new File([`${header}\r\n`, file.slice(sheet.headerBytes)], name, { type, lastModified });
}

function fieldsByColumn(mapping: Mapping): Map<string, string> {
  return new Map([...mapping].map(([field, column]) => [column, field]));
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
