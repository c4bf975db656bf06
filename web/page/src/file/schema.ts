/** JSON Schemas for a row, as far as the page interprets them: their fields. The server checks rows. */

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
  /** What the import converts cells to; `unknown` if the schema says it in a way that the page does not interpret. */
  kind: "number" | "date" | "other" | "unknown";
}

/** Keywords with further schemas for the same value. */
const INDIRECT = ["$ref", "allOf", "anyOf", "oneOf"];

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
    kind: isObject(rule) ? kindOf(rule) : ("other" as const),
  }));
  return { name, document, fields };
}

function kindOf(rule: Record<string, unknown>): Field["kind"] {
  const types: unknown[] = Array.isArray(rule.type) ? rule.type : [rule.type];
  if (rule.format === "date" || rule.format === "date-time") return "date";
  if (types.some((type) => type === "number" || type === "integer")) return "number";
  return INDIRECT.some((keyword) => keyword in rule) ? "unknown" : "other";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
