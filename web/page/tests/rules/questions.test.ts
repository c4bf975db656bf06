/** Questions about columns that can be read in two ways. */

import type { Inspection } from "longshore-client";
import { expect, test } from "vitest";
import { type Answers, columnQuestions, notationsOption, withCentury } from "../../src/file/questions";
import type { Field } from "../../src/file/schema";
import { dayOf } from "../../src/text";

type Column = Inspection["columns"][number];

function column(name: string, change: Partial<Column> = {}): Column {
  return { name, type: "text", notation: null, question: null, needsPivotYear: false, ...change };
}

const DATES = column("date", {
  type: "date",
  question: {
    cell: "03.04.2024",
    readings: [
      { notation: "dmy", value: "2024-04-03" },
      { notation: "mdy", value: "2024-03-04" },
    ],
  },
});
const NUMBERS = column("price", {
  type: "number",
  question: {
    cell: "1.234",
    readings: [
      { notation: ".", value: "1.234" },
      { notation: ",", value: "1234" },
    ],
  },
});

interface Asked {
  columns: Column[];
  kinds?: Record<string, Field["kind"]>;
  code?: string | null;
  answers?: Answers;
}

function asked({ columns, kinds = {}, code = "ambiguous_column", answers = new Map() }: Asked) {
  const fields = Object.entries(kinds).map(([name, kind]) => ({ name, required: false, kind }));
  const error = code === null ? null : { code, message: "made up" };
  const properties = columns.map(({ name }) => name);
  return columnQuestions({ columns, error }, fields, properties, answers);
}

const names = (given: Asked) => asked(given).map(({ column }) => column);

test("a question has both readings of the server's cell", () => {
  expect(asked({ columns: [DATES], kinds: { date: "date" } })).toEqual([
    {
      column: "date",
      kind: "date",
      cell: "03.04.2024",
      isYearShort: false,
      readings: [
        { notation: "dmy", value: "2024-04-03" },
        { notation: "mdy", value: "2024-03-04" },
      ],
    },
  ]);
});

test.each<[string, Asked, string[]]>([
  ["text is not asked", { columns: [DATES], kinds: {} }, []],
  [
    "a column is asked for what the import converts it to",
    { columns: [DATES], kinds: { date: "number" } },
    ["date"],
  ],
  [
    "a field that the page cannot interpret is asked",
    { columns: [NUMBERS], kinds: { price: "unknown" } },
    ["price"],
  ],
  [
    "nothing is asked without an error",
    { columns: [DATES, NUMBERS], kinds: { date: "date", price: "number" }, code: null },
    [],
  ],
  [
    "an answer can be changed",
    { columns: [DATES], kinds: { date: "date" }, code: null, answers: new Map([["date", "dmy"]]) },
    ["date"],
  ],
  [
    "all columns are asked at once",
    { columns: [DATES, NUMBERS], kinds: { date: "date", price: "number" } },
    ["date", "price"],
  ],
  [
    "a column without a question is asked only if no other is open",
    { columns: [DATES, column("mixed")], kinds: { date: "date", mixed: "number" } },
    ["date"],
  ],
  [
    "a column without a question is asked if nothing else explains the error",
    {
      columns: [DATES, column("mixed"), column("found", { notation: "," })],
      kinds: { date: "date", mixed: "number", found: "number" },
      answers: new Map([["date", "dmy"]]),
    },
    ["date", "mixed"],
  ],
  [
    "columns in two notations are asked",
    {
      columns: [column("price", { type: "number" })],
      kinds: { price: "number" },
      code: "conflicting_column",
    },
    ["price"],
  ],
  [
    "an open question stays while the century is missing",
    {
      columns: [DATES, NUMBERS, column("mixed")],
      kinds: { date: "date", price: "number", mixed: "number" },
      code: "pivot_year_missing",
      answers: new Map([["price", "."]]),
    },
    ["date", "price"],
  ],
  [
    "a missing time zone asks no column without a question",
    {
      columns: [DATES, column("mixed")],
      kinds: { date: "date", mixed: "number" },
      code: "time_zone_missing",
      answers: new Map([["date", "dmy"]]),
    },
    ["date"],
  ],
  ["other errors ask nothing", { columns: [DATES], kinds: { date: "date" }, code: "file_empty" }, []],
])("%s", (_, given, expected) => {
  expect(names(given)).toEqual(expected);
});

test("answers become the notations of properties", () => {
  const answers: Answers = new Map([
    ["Seit", "dmy"],
    ["Preis", ","],
    ["Notiz", "."],
    ["gone", "mdy"],
  ]);
  expect(notationsOption(["Seit", "Preis", "Notiz"], ["since", "price", null], answers)).toEqual({
    since: { dateOrder: "dmy" },
    price: { decimalSeparator: "," },
  });
});

test("a two-digit year is one of the 100 years from the first year", () => {
  const of = (firstYear: number) => withCentury("1963-02-01", firstYear);
  expect([of(1930), of(1963), of(1964), of(2000)]).toEqual([
    "1963-02-01",
    "1963-02-01",
    "2063-02-01",
    "2063-02-01",
  ]);
  expect(withCentury("2049-02-01T18:30:00", 1950)).toBe("2049-02-01T18:30:00");
  expect(withCentury("2063-02-01", 1930)).toBe("1963-02-01");
  expect(withCentury("soon", 1930)).toBe("soon");
});

test("a date is a day in words", () => {
  expect(dayOf("2024-04-03", true)).toBe("3 April 2024");
  expect(dayOf("2024-04-03T18:30:00", false)).toBe("3 April");
  expect(dayOf("soon", true)).toBe("soon");
});
