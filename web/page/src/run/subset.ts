/**
 * The subset of JSON Schema that the form of the options draws: the same as the server's
 * (`shared/domain/src/registration/form.rs`). Returns the parts outside of it, and changes nothing.
 */

/** Keywords of the schema, besides `properties`. */
const OF_SCHEMA = ["$schema", "type", "required", "title", "description", "additionalProperties"];
/** Keywords of a property. */
const OF_PROPERTY = [
  "type",
  "enum",
  "title",
  "description",
  "default",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
];
/** Types of a property. */
const TYPES = ["string", "number", "integer", "boolean"];

/** A value that a field can have. */
export type Plain = string | number | boolean;

type Members = Record<string, unknown>;

/**
 * Returns the JSON pointers of the parts that the form does not draw. If there are none, the form can express every
 * value that the schema allows.
 */
export function notDrawn(schema: unknown): string[] {
  if (!isObject(schema)) return [""];
  const found: string[] = [];
  if (schema.type !== "object") found.push("/type");
  found.push(
    ...unknown("", schema, (name, value) => {
      if (name === "properties") return isObject(value);
      if (name === "additionalProperties") return typeof value === "boolean";
      return OF_SCHEMA.includes(name);
    }),
  );
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const [name, property] of Object.entries(properties)) {
    const at = `/properties/${escaped(name)}`;
    found.push(...(isObject(property) ? ofProperty(at, property) : [at]));
  }
  // The server allows it, but a property without a rule has no field.
  if (namesOf(schema.required).some((name) => !Object.hasOwn(properties, name))) found.push("/required");
  return [...new Set(found)];
}

function ofProperty(at: string, property: Members): string[] {
  const missing = "type" in property || "enum" in property ? [] : [`${at}/type`];
  const others = unknown(at, property, (name, value) => {
    if (name === "type") return typeof value === "string" && TYPES.includes(value);
    if (name === "enum") return Array.isArray(value) && value.every(isPlain);
    return OF_PROPERTY.includes(name);
  });
  return [...missing, ...others];
}

function unknown(at: string, members: Members, isKnown: (name: string, value: unknown) => boolean): string[] {
  const others = Object.entries(members).filter(([name, value]) => !isKnown(name, value));
  return others.map(([name]) => `${at}/${escaped(name)}`);
}

/** Returns the strings of an array. */
export function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

export function isPlain(value: unknown): value is Plain {
  return ["string", "number", "boolean"].includes(typeof value);
}

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Escapes a name for a JSON pointer (RFC 6901). */
export function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
