/** What a schema says of single rows, as far as a browser can broadcast. The server's word is the one that counts. */

import { Validator } from "@cfworker/json-schema";
import { coerce, type Schema } from "./schema";
import type { Row } from "./sheet";

/** Fields of a row that its schema refuses, each with the reason. */
export type Violations = Map<string, string>;

/** One per schema: to make one costs more than to ask it about all rows. */
const validators = new WeakMap<Schema, Validator | null>();

/**
 * What is wrong with each row. Null if the schema has something that cannot be judged here: another kind of pattern, a
 * reference to elsewhere, or a mistake. `coerces`: cells become what the schema wants.
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
  const made = makeValidator(schema);
  validators.set(schema, made);
  return made;
}

function makeValidator({ document }: Schema): Validator | null {
  try {
    return new Validator(document, "2020-12", false);
  } catch {
    return null;
  }
}

/** A field whose types are not known here is not judged. */
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
