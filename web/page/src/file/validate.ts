/**
 * Validation of single rows by a schema, as far as a browser can. The server's result is the one that counts.
 */

import { Validator } from "@cfworker/json-schema";
import { coerce, type Schema } from "./schema";
import type { Row } from "./sheet";

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
  for (const [name, value] of Object.entries(row)) {
    values[name] = coerces && typeof value === "string" ? coerce(value, known.get(name) ?? []) : value;
  }
  const reasons: Violations = new Map();
  for (const { instanceLocation, keyword, error } of validator.validate(values).errors) {
    const field = /^#\/([^/]+)/.exec(instanceLocation)?.[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (field !== undefined && known.get(field)?.length && keyword !== "$ref") reasons.set(field, error);
    const absent = keyword === "required" ? /"([^"]+)"/.exec(error)?.[1] : undefined;
    if (absent !== undefined) reasons.set(absent, error);
  }
  return reasons;
}
