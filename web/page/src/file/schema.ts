/** JSON Schemas for a row, as far as the page interprets them: fields, and conversions of cells. */

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
  /** The allowed JSON types; empty if the schema defines them in a way that the page does not interpret. */
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
  if (typeof rule.type === "string") return [rule.type];
  return Array.isArray(rule.type) ? rule.type.filter((type) => typeof type === "string") : [];
}

/**
 * Converts a cell as the import does (`shared/src/job_types/import/coerce.rs`): text where text is allowed,
 * else a number or a boolean if it is one, else the text itself, which validation then rejects.
 */
export function coerce(cell: string, types: string[]): unknown {
  if (types.length === 0 || types.includes("string")) return cell;
  const text = cell.trim();
  const isNumber = types.includes("number");
  if (/^[+-]?\d+$/.test(text)) {
    return (isNumber || types.includes("integer")) && fits64Bits(text) ? Number(text) : cell;
  }
  if (isNumber && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text))) {
    return Number(text);
  }
  if (types.includes("boolean") && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
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
