/** What would fail every row, found before the file is sent. */

import { Validator } from "@cfworker/json-schema";
import { type Mapping, renamed, renameRow } from "./mapping";
import { coerce, type Schema } from "./schema";
import type { Sheet } from "./sheet";

/** Something that is wrong with a file as a whole. */
export type FileProblem =
  | { kind: "delimiter"; delimiter: string }
  | { kind: "duplicate-column"; column: string }
  | { kind: "no-rows" }
  | { kind: "no-key"; key: string }
  | { kind: "missing-field"; field: string }
  | { kind: "unknown-columns"; columns: string[] }
  | { kind: "not-json" }
  | { kind: "every-row"; field: string; reason: string; rows: number };

/** What the person has chosen. */
export interface Choice {
  key: string;
  schema: Schema | null;
  mapping: Mapping;
}

/** The problems; none if at least one of the first rows may succeed. */
export function findProblems(sheet: Sheet, choice: Choice): FileProblem[] {
  const structure = ofStructure(sheet);
  if (structure.length > 0) return structure;
  const names = renamed(sheet.columns, choice.mapping);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return [{ kind: "duplicate-column", column: twice }];
  const problems: FileProblem[] = [];
  if (choice.key !== "" && !names.includes(choice.key)) problems.push({ kind: "no-key", key: choice.key });
  if (!choice.schema) return problems;
  const missing = choice.schema.fields.filter((field) => field.required && !names.includes(field.name));
  problems.push(...missing.map(({ name }): FileProblem => ({ kind: "missing-field", field: name })));
  const unknown = unknownColumns(choice.schema, names);
  if (unknown.length > 0) problems.push({ kind: "unknown-columns", columns: unknown });
  return problems.length > 0 ? problems : ofEveryRow(sheet, choice.schema, choice.mapping);
}

function ofStructure(sheet: Sheet): FileProblem[] {
  if (sheet.format === "json-lines") {
    return sheet.rows.length === 0 && sheet.badLines.length > 0 ? [{ kind: "not-json" }] : [];
  }
  if (sheet.delimiter !== ",") return [{ kind: "delimiter", delimiter: sheet.delimiter }];
  return sheet.rows.length === 0 && sheet.whole ? [{ kind: "no-rows" }] : [];
}

function unknownColumns(schema: Schema, names: string[]): string[] {
  if (schema.document.additionalProperties !== false) return [];
  const known = new Set(schema.fields.map(({ name }) => name));
  return names.filter((name) => !known.has(name));
}

/** What each of the first rows fails by, if there is such a thing. */
function ofEveryRow(sheet: Sheet, schema: Schema, mapping: Mapping): FileProblem[] {
  const rows = sheet.rows.map((row) => violations(schema, renameRow(row, mapping), sheet.format === "csv"));
  const [first, ...rest] = rows;
  if (!first) return [];
  const shared = [...first].filter(([name]) => rest.every((row) => row.has(name)));
  return shared.map(([field, reason]) => ({ kind: "every-row", field, reason, rows: rows.length }));
}

/** Fields of a row that its schema refuses, each with the reason. A field whose types are not known here is not judged. */
function violations(schema: Schema, row: Record<string, unknown>, coerces: boolean): Map<string, string> {
  const known = new Map(schema.fields.map((field) => [field.name, field.types]));
  const values = Object.entries(row).map(([name, value]) => {
    const types = known.get(name) ?? [];
    return [name, coerces && typeof value === "string" ? coerce(value, types) : value];
  });
  const found = new Validator(schema.document, "2020-12", false).validate(Object.fromEntries(values));
  const reasons = new Map<string, string>();
  for (const { instanceLocation, keyword, error } of found.errors) {
    const field = /^#\/([^/]+)/.exec(instanceLocation)?.[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (field !== undefined && known.get(field)?.length && keyword !== "$ref") reasons.set(field, error);
    const absent = keyword === "required" ? /"([^"]+)"/.exec(error)?.[1] : undefined;
    if (absent !== undefined) reasons.set(absent, error);
  }
  return reasons;
}
