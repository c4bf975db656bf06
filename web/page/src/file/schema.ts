/**
 * JSON Schemas for a row, as far as the page interprets them: fields, conversions of cells, and validation of
 * single rows. The server's result is the one that counts.
 */

import { Validator } from "@cfworker/json-schema";
import type { Row } from "./sheet";

/** A schema that the user has chosen. */
export interface Schema {
  /** The file's name. */
  name: string;
  document: Record<string, unknown>;
  fields: Field[];
}

/** A property of the schema. */
export interface Field {
  name: string;
  required: boolean;
  /**
   * The allowed JSON types; empty if the schema defines them in a way that the page does not interpret, or if the
   * import converts cells in a way that depends on other rows.
   */
  types: string[];
}

/** Parses a schema file. Returns null if it is not a JSON object with properties. */
export function readSchema(name: string, text: string): Schema | null {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(document) || !isObject(document.properties)) return null;
  const required = Array.isArray(document.required) ? document.required : [];
  const properties = new Map(Object.entries(document.properties));
  // A required property need not be described.
  for (const field of required)
    if (typeof field === "string" && !properties.has(field)) properties.set(field, null);
  const fields = [...properties].map(([field, rule]) => ({
    name: field,
    required: required.includes(field),
    types: isObject(rule) ? typesOf(rule) : [],
  }));
  return { name, document, fields };
}

function typesOf(rule: Record<string, unknown>): string[] {
  // The import converts dates in the order that the column shows.
  if (rule.format === "date") return [];
  if (typeof rule.type === "string") return [rule.type];
  return Array.isArray(rule.type) ? rule.type.filter((type) => typeof type === "string") : [];
}

/** A value that only the import can determine, because it depends on other rows. */
export const UNKNOWN = Symbol("unknown");

/**
 * Converts a cell as the import does (`shared/src/job_types/import/conversion.rs`): text where text is allowed, else a
 * number or a boolean if it is one, else the text itself, which validation then rejects. Numbers with separators and
 * words such as `yes` are not interpreted here.
 */
export function coerce(cell: string, types: string[]): unknown {
  if (types.length === 0 || types.includes("string")) return cell;
  const text = cell.trim();
  if (/^[+-]?\d+$/.test(text)) {
    const isNumber = types.includes("number") || types.includes("integer");
    return isNumber && fits64Bits(text) ? Number(text) : cell;
  }
  if (types.includes("boolean") && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  const isNumber = types.includes("number") || types.includes("integer");
  if (isNumber && /\d/.test(text) && /^[+\-\u2212]?[\d.,'\u2019\s]*(e[+-]?\d+)?$/i.test(text)) return UNKNOWN;
  if (types.includes("boolean") && /^\p{L}{2,}$/u.test(text)) return UNKNOWN;
  return cell;
}

/** Integers outside 64 bits are not converted, because they would lose digits. */
function fits64Bits(digits: string): boolean {
  const value = BigInt(digits.replace("+", ""));
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The invalid fields of a row, each with the reason. */
export type Violations = Map<string, string>;

/** Validators by schema: creating one costs more than validating all rows. */
const validators = new WeakMap<Schema, Validator | null>();

/**
 * Returns the violations of each row. Returns null if the schema has something unsupported: another pattern
 * syntax, an external reference, or an error. `coerces`: convert cells to the types of the schema.
 */
export function validateRows(schema: Schema, rows: Row[], coerces: boolean): Violations[] | null {
  const validator = validatorOf(schema);
  try {
    return validator && rows.map((row) => violations(schema, validator, row, coerces));
  } catch {
    return null;
  }
}

function validatorOf(schema: Schema): Validator | null {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const validator = makeValidator(schema);
  validators.set(schema, validator);
  return validator;
}

function makeValidator({ document }: Schema): Validator | null {
  try {
    return new Validator(document, "2020-12", false);
  } catch {
    return null;
  }
}

/** Ignores fields of unknown type. */
function violations(schema: Schema, validator: Validator, row: Row, coerces: boolean): Violations {
  const known = new Map(schema.fields.map((field) => [field.name, field.types]));
  const values: Row = Object.create(null);
  const unknown = new Set<string>();
  for (const [name, value] of Object.entries(row)) {
    values[name] = coerces && typeof value === "string" ? coerce(value, known.get(name) ?? []) : value;
    if (values[name] === UNKNOWN) {
      unknown.add(name);
      values[name] = value;
    }
  }
  const reasons: Violations = new Map();
  for (const { instanceLocation, keyword, error } of validator.validate(values).errors) {
    const field = /^#\/([^/]+)/.exec(instanceLocation)?.[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (field !== undefined && unknown.has(field)) continue;
    if (field !== undefined && known.get(field)?.length && keyword !== "$ref") reasons.set(field, error);
    const absent = keyword === "required" ? /"([^"]+)"/.exec(error)?.[1] : undefined;
    if (absent !== undefined) reasons.set(absent, error);
  }
  return reasons;
}
