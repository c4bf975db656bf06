/** Questions about columns whose cells can be read in two ways, and the notations that answer them. */

import type { ImportOptions, Inspection } from "longshore-client";
import type { Field } from "./schema";

/** A notation of a column's cells: the decimal separator of numbers, or the order of dates. */
export type Notation = "." | "," | "dmy" | "mdy" | "ymd";

/** The chosen notations, by column. */
export type Answers = ReadonlyMap<string, Notation>;

/** A question about a column. */
export interface ColumnQuestion {
  column: string;
  kind: "number" | "date";
  /** A cell of the column; null if the server names none. */
  cell: string | null;
  /** True if the century of the dates is not known. */
  isYearShort: boolean;
  /** The possible notations, with the value of the cell. */
  readings: { notation: Notation; value: string | null }[];
}

type Found = Pick<Inspection, "columns" | "error">;
type Column = Inspection["columns"][number];

/** Errors that a notation of a column solves. */
const SOLVED = ["ambiguous_column", "conflicting_column"];
/** Errors of notations. The server reports one of them, also if other columns have an open question. */
const ASKED = [...SOLVED, "pivot_year_missing", "time_zone_missing"];
const NOTATIONS = { number: [",", "."], date: ["dmy", "mdy", "ymd"] } as const;

/**
 * Returns the questions that must be answered, and those that were. A column without a question of its own is asked only
 * if a notation solves the error, and the error concerns no other.
 *
 * @param fields Schema's fields. A column without a field is text, and not asked.
 * @param properties Properties of the columns; null for those that are left out.
 */
export function columnQuestions(
  { columns, error }: Found,
  fields: readonly Field[],
  properties: readonly (string | null)[],
  answers: Answers,
): ColumnQuestion[] {
  const code = error?.code ?? "";
  const [isSolved, isAsked] = [SOLVED.includes(code), ASKED.includes(code)];
  const kinds = new Map(fields.map(({ name, kind }) => [name, kind]));
  const converted = columns.flatMap((column, at) => {
    const property = properties[at] ?? null;
    const kind = property === null ? undefined : kinds.get(property);
    return kind === undefined || kind === "other" ? [] : [{ column, kind }];
  });
  const own = converted.flatMap(({ column, kind }) => ownQuestion(column, kind));
  const isOpen = own.some(({ column }) => !answers.has(column));
  const others = converted.filter(({ column }) => !own.some((question) => question.column === column.name));
  const plain = others.flatMap(({ column, kind }) =>
    answers.has(column.name) || (isSolved && !isOpen) ? plainQuestion(column, kind) : [],
  );
  return [...own.filter(({ column }) => isAsked || answers.has(column)), ...plain];
}

/** Returns the server's question about a column, if it is about what the import converts its cells to. */
function ownQuestion({ name, question, needsPivotYear }: Column, kind: Field["kind"]): ColumnQuestion[] {
  const readings = question?.readings.flatMap(({ notation, value }) =>
    isNotation(notation) ? [{ notation, value }] : [],
  );
  if (!question || !readings || readings.length < 2) return [];
  const found = readings.some(({ notation }) => notation === "." || notation === ",") ? "number" : "date";
  if (kind !== "unknown" && kind !== found) return [];
  return [{ column: name, kind: found, cell: question.cell, isYearShort: needsPivotYear, readings }];
}

/** Returns a question with all notations, for a column whose first cells do not show one. */
function plainQuestion({ name, notation }: Column, kind: Field["kind"]): ColumnQuestion[] {
  if (notation !== null || (kind !== "number" && kind !== "date")) return [];
  const readings = NOTATIONS[kind].map((notation) => ({ notation, value: null }));
  return [{ column: name, kind, cell: null, isYearShort: false, readings }];
}

/** Returns a date of ISO 8601 with the year of a two-digit year, which is one of the 100 years from the first year. */
export function withCentury(date: string, firstYear: number): string {
  const year = Number(date.slice(0, 4));
  if (!/^\d{4}-/.test(date)) return date;
  const full = firstYear + ((((year - firstYear) % 100) + 100) % 100);
  return `${full}${date.slice(4)}`;
}

function isNotation(text: string): text is Notation {
  return [...NOTATIONS.number, ...NOTATIONS.date].some((notation) => notation === text);
}

/** Returns the import's option `notations`. */
export function notationsOption(
  columns: readonly string[],
  properties: readonly (string | null)[],
  answers: Answers,
): NonNullable<ImportOptions["notations"]> {
  const pairs = columns.flatMap((column, at) => {
    const [property, notation] = [properties[at], answers.get(column)];
    if (typeof property !== "string" || notation === undefined) return [];
    const isNumber = notation === "." || notation === ",";
    return [[property, isNumber ? { decimalSeparator: notation } : { dateOrder: notation }] as const];
  });
  return Object.fromEntries(pairs);
}
