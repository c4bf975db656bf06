/** The fields of the form of a job type's options, from a JSON Schema of the subset that the form draws. */

import { isObject, isPlain, namesOf, notDrawn, type Plain } from "./subset";

/** Most characters of a title and of a description; the schema has all. */
const MAX_TITLE = 120;
const MAX_DESCRIPTION = 600;
/** Characters of a text from which its field has several lines. */
const LONG_TEXT = 200;

/** The input of a field. `yes-no` has a value always, `choice` can have none. */
export type FieldInput =
  | { kind: "text"; isLong: boolean; minLength: number | null; maxLength: number | null; hasPattern: boolean }
  | { kind: "number"; isInteger: boolean; minimum: number | null; maximum: number | null }
  | { kind: "yes-no" }
  | { kind: "choice"; values: readonly Plain[] };

/** A field of the form. */
export interface OptionField {
  /** Name of the option. */
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly isRequired: boolean;
  /** Default value of the schema; null if it has none that fits the field. */
  readonly initial: Plain | null;
  readonly input: FieldInput;
}

/** The form of the options: fields, or one text of JSON with the parts of the schema that have no field. */
export type OptionsForm =
  | { kind: "fields"; description: string | null; fields: readonly OptionField[] }
  | { kind: "json"; notDrawn: readonly string[] };

/** Returns the form of a schema. Without a schema, any object is valid. */
export function optionsForm(schema: unknown): OptionsForm {
  if (schema === null || schema === undefined) return { kind: "json", notDrawn: [] };
  const parts = notDrawn(schema);
  if (parts.length > 0 || !isObject(schema)) return { kind: "json", notDrawn: parts };
  const required = new Set(namesOf(schema.required));
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const fields = properties.map(([name, rule]) =>
    field(name, isObject(rule) ? rule : {}, required.has(name)),
  );
  return {
    kind: "fields",
    description: textOf(schema.description, MAX_DESCRIPTION),
    fields: withUniqueTitles(fields),
  };
}

function field(name: string, rule: Record<string, unknown>, isRequired: boolean): OptionField {
  const input = inputOf(rule, isRequired);
  return {
    name,
    title: textOf(rule.title, MAX_TITLE) ?? shortened(name, MAX_TITLE),
    description: textOf(rule.description, MAX_DESCRIPTION),
    isRequired,
    initial: isPlain(rule.default) && fits(input, rule.default) ? rule.default : null,
    input,
  };
}

function inputOf(rule: Record<string, unknown>, isRequired: boolean): FieldInput {
  if (Array.isArray(rule.enum))
    return { kind: "choice", values: rule.enum.filter((value) => hasType(value, rule.type)) };
  switch (rule.type) {
    case "number":
    case "integer":
      return {
        kind: "number",
        isInteger: rule.type === "integer",
        minimum: numberOf(rule.minimum),
        maximum: numberOf(rule.maximum),
      };
    case "boolean":
      // An optional one without a default can also be absent, which a checkbox cannot say.
      return isRequired || typeof rule.default === "boolean"
        ? { kind: "yes-no" }
        : { kind: "choice", values: [true, false] };
    default: {
      const maxLength = numberOf(rule.maxLength);
      const isLong =
        (maxLength ?? 0) >= LONG_TEXT || (typeof rule.default === "string" && rule.default.includes("\n"));
      const minLength = numberOf(rule.minLength);
      return { kind: "text", isLong, minLength, maxLength, hasPattern: typeof rule.pattern === "string" };
    }
  }
}

function hasType(value: unknown, type: unknown): value is Plain {
  if (!isPlain(value)) return false;
  if (type === undefined) return true;
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

function fits(input: FieldInput, value: Plain): boolean {
  switch (input.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "yes-no":
      return typeof value === "boolean";
    case "choice":
      return input.values.includes(value);
  }
}

/** Adds the name of the option to titles that several fields have. */
function withUniqueTitles(fields: readonly OptionField[]): OptionField[] {
  const count = (title: string) => fields.filter((field) => field.title === title).length;
  return fields.map((field) => ({
    ...field,
    title: count(field.title) > 1 ? `${field.title} (${shortened(field.name, MAX_TITLE)})` : field.title,
  }));
}

function textOf(value: unknown, max: number): string | null {
  return typeof value === "string" && value.trim() !== "" ? shortened(value.trim(), max) : null;
}

/** Cuts by characters, so that no half of a surrogate pair remains. */
function shortened(text: string, max: number): string {
  const chars = [...text];
  return chars.length > max ? `${chars.slice(0, max).join("")}...` : text;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
