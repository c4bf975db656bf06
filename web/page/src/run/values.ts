/**
 * The values of the form of a job type's options: the options of the request, and the problems that the page finds
 * before it sends them. The server checks all of the schema, patterns too: the page runs no pattern of a schema, because
 * one can take forever.
 */

import type { FieldInput, OptionField } from "./fields";
import { isObject, type Plain } from "./subset";

/** What a field contains: a text, a check mark, or the index of a choice as a text. Empty if it has no value. */
export type Entry = string | boolean;

/** Entries by the name of their option. A map, because an option can be called `__proto__`. */
export type Entries = ReadonlyMap<string, Entry>;

/** A problem of an entry. */
export type EntryProblem =
  | { kind: "missing" | "not-a-number" | "not-whole" | "too-many-digits" }
  | { kind: "too-small" | "too-large" | "too-short" | "too-long"; limit: number };

/** Returns the entries of an untouched form. */
export function initialEntries(fields: readonly OptionField[]): Entries {
  return new Map(fields.map(({ name, input, initial }) => [name, entryOf(input, initial)]));
}

function entryOf(input: FieldInput, value: Plain | null): Entry {
  if (input.kind === "yes-no") return value === true;
  if (value === null) return "";
  return input.kind === "choice" ? String(input.values.indexOf(value)) : String(value);
}

/** Returns the options of the entries. An empty field is absent. */
export function optionsOf(fields: readonly OptionField[], entries: Entries): Record<string, Plain> {
  const options: [string, Plain][] = [];
  for (const field of fields) {
    const value = valueOf(field.input, entries.get(field.name) ?? "");
    if (value !== null) options.push([field.name, value]);
  }
  return Object.fromEntries(options);
}

function valueOf(input: FieldInput, entry: Entry): Plain | null {
  if (input.kind === "yes-no") return entry === true;
  const text = String(entry);
  if (input.kind === "text") return text === "" ? null : text;
  if (text.trim() === "") return null;
  return input.kind === "choice" ? (input.values[Number(text)] ?? null) : Number(text);
}

/** Returns the first problem of each field that has one. */
export function problemsOf(
  fields: readonly OptionField[],
  entries: Entries,
): ReadonlyMap<string, EntryProblem> {
  const problems = new Map<string, EntryProblem>();
  for (const field of fields) {
    const problem = problemOf(field, entries.get(field.name) ?? "");
    if (problem) problems.set(field.name, problem);
  }
  return problems;
}

function problemOf({ input, isRequired }: OptionField, entry: Entry): EntryProblem | null {
  const value = valueOf(input, entry);
  if (value === null) return isRequired ? { kind: "missing" } : null;
  if (input.kind === "number") return numberProblem(input, String(entry).trim(), Number(value));
  if (input.kind === "text") return lengthProblem(input, [...String(value)].length);
  return null;
}

function numberProblem(
  { isInteger, minimum, maximum }: Extract<FieldInput, { kind: "number" }>,
  text: string,
  value: number,
): EntryProblem | null {
  // Not the other notations that JavaScript reads, such as 0x10.
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) || !Number.isFinite(value))
    return { kind: "not-a-number" };
  if (isInteger && !Number.isInteger(value)) return { kind: "not-whole" };
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return { kind: "too-many-digits" };
  if (minimum !== null && value < minimum) return { kind: "too-small", limit: minimum };
  if (maximum !== null && value > maximum) return { kind: "too-large", limit: maximum };
  return null;
}

function lengthProblem(
  { minLength, maxLength }: Extract<FieldInput, { kind: "text" }>,
  length: number,
): EntryProblem | null {
  if (minLength !== null && length < minLength) return { kind: "too-short", limit: minLength };
  if (maxLength !== null && length > maxLength) return { kind: "too-long", limit: maxLength };
  return null;
}

/** Returns the options of a text of JSON, or null if it is no object. An empty text is the empty object. */
export function parseOptions(text: string): Record<string, unknown> | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
