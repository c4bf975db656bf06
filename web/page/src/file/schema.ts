/** A JSON Schema for one row, as far as the page needs it: its fields, and what a cell becomes for it. */

/** A schema that a person has chosen. */
export interface Schema {
  /** Where it came from. */
  name: string;
  document: Record<string, unknown>;
  fields: Field[];
}

/** A property of the schema. */
export interface Field {
  name: string;
  required: boolean;
  /** The JSON types that it may have; none if the schema says it in a way that is not followed here. */
  types: string[];
}

/** Reads a schema file. Null if it is no JSON object with properties. */
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
  // What is required may be described elsewhere, or nowhere.
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
 * The value that a cell becomes, by the rules of the import (`shared/src/job_types/import/coerce.rs`): text where text is
 * allowed, else a number or a boolean if it is one, else the text itself, so that the check says what is wrong.
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

/** An integer keeps every digit, or is none. */
function fits64Bits(digits: string): boolean {
  const value = BigInt(digits.replace("+", ""));
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
