/** A picked file: its sample, and what is made of the server's answer: rows, key, mapping, and the line of its reading. */

import type { Inspection } from "longshore-client";
import { expect, test } from "vitest";
import { readingLine } from "../../src/components/reading-line";
import { isReadable, sampleOf } from "../../src/file/beginning";
import { withGiven } from "../../src/file/inspection";
import { guessKey, repeatedKey } from "../../src/file/key";
import {
  columnsOption,
  guessMapping,
  leftOutColumns,
  type Preset,
  propertiesOf,
  suggestMapping,
  valuesOption,
  withChoices,
} from "../../src/file/mapping";
import { type Field, readSchema } from "../../src/file/schema";
import { haveSheetRows, problemGroups, type Table, tableOf } from "../../src/file/table";

const MIB = 1024 * 1024;
const field = (name: string): Field => ({ name, required: false, kind: "other" });

/** Returns a file of 5 MiB that begins with these parts. */
function large(name: string, ...parts: BlobPart[]): File {
  return new File([...parts, new Uint8Array(5 * MIB)], name);
}

test("a large text has a sample that ends after a line", async () => {
  const line = `${"x".repeat(99)}\n`;
  const sample = await sampleOf(large("people.csv", line.repeat(6_000)));
  expect([sample?.name, sample?.size]).toEqual(["people.csv", 524_200]);
  const old = await sampleOf(large("mac.csv", `${"x".repeat(99)}\r`.repeat(6_000)));
  expect(old?.size).toBe(524_200);
  expect((await sampleOf(large("one-line.csv", "x".repeat(MIB))))?.size).toBe(512 * 1024);
});

test("small files, and files that cannot be cut, have no sample", async () => {
  expect(await sampleOf(new File(["id\n", new Uint8Array(4 * MIB - 3)], "small.csv"))).toBeNull();
  for (const name of ["a.xlsx", "a.csv.gz", "a.csv.ZST", "a.zip"])
    expect(await sampleOf(large(name))).toBeNull();
  for (const magic of [
    [0x1f, 0x8b],
    [0x28, 0xb5, 0x2f, 0xfd],
    [0xff, 0xfe],
  ])
    expect(await sampleOf(large("named-wrongly.csv", new Uint8Array(magic)))).toBeNull();
  expect(await sampleOf(large("marked.csv", new Uint8Array([0xef, 0xbb, 0xbf]), "id\n"))).not.toBeNull();
});

test("a file that the browser cannot read is known", async () => {
  const gone = new File(["id\n1\n"], "gone.csv");
  gone.slice = () => ({ arrayBuffer: () => Promise.reject(new Error("NotFoundError")) }) as unknown as Blob;
  expect([await isReadable(gone), await isReadable(new File([], "empty.csv"))]).toEqual([false, true]);
});

type Row = Inspection["rows"][number];

function row(number: number, cells: string[], code?: string, of: string | null = null): Row {
  return {
    number,
    sheetRow: null,
    cells,
    problem: code === undefined ? null : { code, field: of, message: `${code}!` },
  };
}

function csv(header: string[], ...rows: Row[]): Table {
  const columns = header.map((name) => ({
    name,
    type: "text" as const,
    notation: null,
    question: null,
    needsPivotYear: false,
  }));
  return tableOf({ format: "csv", columns, rows });
}

test("rows of CSV keep their numbers and cells", () => {
  const found = csv(["id", "name"], row(4, ["1", "Ann"]), row(7, ["2"], "too_few_cells"));
  expect(found.columns).toEqual(["id", "name"]);
  expect(found.rows.map(({ number, cells, line }) => [number, cells, line])).toEqual([
    [4, ["1", "Ann"], null],
    [7, ["2"], null],
  ]);
});

test("rows of a workbook have their rows in the sheet, and other rows have none", () => {
  const found = csv(["id"], { ...row(1, ["1"]), sheetRow: 4 }, { ...row(2, ["2"]), sheetRow: 6 });
  expect(found.rows.map(({ number, sheetRow }) => [number, sheetRow])).toEqual([
    [1, 4],
    [2, 6],
  ]);
  expect(haveSheetRows(found.rows)).toBe(true);
  const lines = tableOf({ format: "jsonl", columns: [], rows: [row(1, ["{}"])] });
  expect([haveSheetRows(lines.rows), haveSheetRows([])]).toEqual([false, false]);
});

test("lines of JSON become rows of their properties, and others remain lines", () => {
  const rows = [
    row(1, ['{"id":1,"constructor":null}']),
    row(2, ["not"], "malformed_json"),
    row(3, ['{"id":2,"tags":["a"]}']),
    row(4, ["[1]"], "not_an_object"),
  ];
  const found = tableOf({ format: "jsonl", columns: [], rows });
  expect(found.columns).toEqual(["id", "constructor", "tags"]);
  expect(found.rows.map(({ cells, line }) => line ?? cells)).toEqual([
    ["1", "", ""],
    "not",
    ["2", "", '["a"]'],
    "[1]",
  ]);
});

test("problems are grouped by code and field, the most frequent first", () => {
  const { rows } = csv(
    ["id"],
    row(1, ["1"], "missing_key", "id"),
    row(2, ["2"], "schema_type", "age"),
    row(3, ["3"]),
    row(4, ["4"], "schema_type", "age"),
    row(5, ["5"], "schema_type", "id"),
  );
  const groups = problemGroups(rows).map(({ problem, rows }) => [problem.code, problem.field, rows]);
  expect(groups).toEqual([
    ["schema_type", "age", 2],
    ["missing_key", "id", 1],
    ["schema_type", "id", 1],
  ]);
});

test("the key is guessed by the columns' names, then by their values", () => {
  const guess = (header: string, rows: string[], names?: (string | null)[]) => {
    const found = csv(header.split(","), ...rows.map((cells, at) => row(at + 1, cells.split(","))));
    return guessKey(found, names ?? found.columns);
  };
  expect(guess("name,email,ID", ["Ann,a@example.com,1"])).toBe("ID");
  expect(guess("name,Nr", ["Ann,1", "Ann,2"])).toBe("Nr");
  expect(guess("name,town", ["Ann,Bonn", "Ann,Bonn"])).toBe("name");
  expect(guess("name,Nr", ["Ann,1"], ["name", "id"])).toBe("Nr");
  expect(guess("a,b", ["1,", "2,x"])).toBe("a");
  expect(guess("id,name", ["1,Ann"], [null, "name"])).toBe("name");
  expect(guess("id", [], [null])).toBe("");
  const found = csv(["id", "E-Mail"], row(1, ["1", "a@example.com"]));
  expect(guessKey(found, ["id", "mail"], "mail")).toBe("E-Mail");
  for (const properties of [
    ["id", null],
    ["id", "E-Mail"],
  ])
    expect(guessKey(found, properties, "mail")).toBe("id");
});

test("a key that the first rows have twice is found", () => {
  const found = csv(["id", "name"], row(1, ["", "Ann"]), row(2, ["", "Bob"]), row(3, ["1", "Ann"]));
  expect([repeatedKey(found, "id"), repeatedKey(found, "name"), repeatedKey(found, "else")]).toEqual([
    null,
    "Ann",
    null,
  ]);
});

test("guesses fields by name, each column once", () => {
  const fields = ["id", "e_mail", "name", "birthday"].map(field);
  const columns = ["ID", "E-Mail", "Full name", "shoe size"];
  const guess = guessMapping(fields, columns);
  expect(Object.fromEntries(guess)).toEqual({ id: "ID", e_mail: "E-Mail", name: "Full name" });
  expect(propertiesOf(columns, guess, new Set())).toEqual(["id", "e_mail", "name", "shoe size"]);
  const unusual = guessMapping([field("constructor"), field("toString")], ["to string"]);
  expect([...unusual]).toEqual([["toString", "to string"]]);
});

test("a mapping names the columns that are called otherwise, and those that are left out", () => {
  const columns = ["id", "Größe", "Notes", "name"];
  const mapping = new Map([
    ["id", "id"],
    ["size, cm", "Größe"],
  ]);
  // A field's column is not left out.
  const properties = propertiesOf(columns, mapping, new Set(["Notes", "Größe"]));
  expect(properties).toEqual(["id", "size, cm", null, "name"]);
  expect(columnsOption(columns, properties)).toEqual({ Größe: "size, cm", Notes: null });
  expect(columnsOption(columns, propertiesOf(columns, new Map(), new Set()))).toEqual({});
});

const preset = (columns: Preset["columns"], values: Preset["values"] = {}): Preset => ({
  key: null,
  columns,
  values,
});

test("a preset comes before the guess, which is for the other fields and columns", () => {
  const fields = ["email", "name", "remark"].map(field);
  const columns = ["E-Mail", "Email", "Full name", "Notiz", "constructor"];
  const known = preset({ Email: "email", Notiz: "note", "not in the file": "remark", constructor: "name" });
  expect(Object.fromEntries(suggestMapping(columns, known, fields))).toEqual({
    email: "Email",
    note: "Notiz",
    name: "constructor",
  });
  // Without a schema, the preset alone maps.
  expect([...suggestMapping(columns, preset({ "E-Mail": "mail", Notiz: null }), [])]).toEqual([
    ["mail", "E-Mail"],
  ]);
  // The preset's column is not guessed for another field.
  expect([...suggestMapping(["Name"], preset({ Name: "title" }), fields)]).toEqual([["title", "Name"]]);
  expect(Object.fromEntries(suggestMapping(columns, null, fields))).toEqual({
    email: "E-Mail",
    name: "Full name",
  });
});

test("columns are left out as in the preset, unless the user says otherwise", () => {
  const columns = ["id", "Notes", "Internal", "toString"];
  const known = preset({ Notes: null, Internal: null, id: "id" });
  const leftOut = (choices: [string, boolean][], of: Preset | null = known) => [
    ...leftOutColumns(columns, of, new Map(choices)),
  ];
  expect(leftOut([])).toEqual(["Notes", "Internal"]);
  expect(
    leftOut([
      ["Notes", false],
      ["id", true],
    ]),
  ).toEqual(["id", "Internal"]);
  expect(leftOut([["Notes", true]], null)).toEqual(["Notes"]);
});

test("a field has the chosen column, which is removed from any other property", () => {
  const suggested = new Map([
    ["name", "Name"],
    ["note", "Notiz"],
    ["age", "Age"],
  ]);
  const choices = new Map([
    ["name", "Notiz"],
    ["age", ""],
  ]);
  expect([...withChoices(suggested, choices)]).toEqual([["name", "Notiz"]]);
  expect([...withChoices(suggested, new Map())]).toEqual([...suggested]);
});

test("only cells of imported properties are replaced", () => {
  const values = { status: { Ja: "active", "": null }, kind: { A: 1 } };
  expect(valuesOption(preset({}, values), ["id", null, "status"])).toEqual({ status: values.status });
  expect(valuesOption(null, ["status"])).toEqual({});
});

test("fields of a schema have what the import converts cells to", () => {
  const rules = {
    price: { type: ["number", "null"] },
    count: { type: "integer" },
    since: { type: "string", format: "date" },
    at: { type: "string", format: "date-time" },
    name: { type: "string" },
    other: { $ref: "#/$defs/other" },
    any: true,
  };
  const schema = readSchema(
    "a.json",
    JSON.stringify({ properties: rules, required: ["price", "undescribed"] }),
  );
  expect(schema?.fields.map(({ name, required, kind }) => [name, required, kind])).toEqual([
    ["price", true, "number"],
    ["count", false, "number"],
    ["since", false, "date"],
    ["at", false, "date"],
    ["name", false, "other"],
    ["other", false, "unknown"],
    ["any", false, "other"],
    ["undescribed", true, "other"],
  ]);
  expect([readSchema("a.json", "{"), readSchema("a.json", "[]"), readSchema("a.json", "{}")]).toEqual([
    null,
    null,
    null,
  ]);
});

test("what is not given is not sent, and equal readings have equal texts", () => {
  const given = withGiven(withGiven({}, { quote: "" }), { delimiter: ";" });
  expect(JSON.stringify(given)).toBe('{"delimiter":";","quote":""}');
  expect(withGiven(given, { quote: undefined, headerRow: 0 })).toEqual({ delimiter: ";", headerRow: 0 });
});

test("the line of a reading has what was found", () => {
  const reading = { encoding: "windows-1252", delimiter: ";", quote: '"', headerRow: 3 } as const;
  const line = (change: Partial<Inspection>) =>
    readingLine({ format: "csv", reading, rows: [], ...change } as Inspection, 6).join(" · ");
  expect(line({})).toBe(
    'CSV, columns separated by semicolons · windows-1252 · Quotes: " · Header in row 3 · 6 columns',
  );
  expect(line({ reading: { ...reading, quote: "", headerRow: 0, comment: "#" } })).toBe(
    "CSV, columns separated by semicolons · windows-1252 · No quotes · Comments begin with # · No header row · 6 columns",
  );
  const prepared = { file: null, sheet: null, sheets: [], headerSheetRow: null };
  expect(line({ prepared: { ...prepared, form: "workbook", sheet: "Data 2024" } })).toBe(
    'Workbook, sheet "Data 2024" · Header in row 3 · 6 columns',
  );
  const below = { ...prepared, form: "workbook", sheet: "Data 2024", headerSheetRow: 5 } as const;
  expect(line({ prepared: below })).toContain("Header in row 5");
  expect(line({ prepared: { ...prepared, form: "zip", file: "a.csv" } })).toMatch(
    /^a.csv in a ZIP archive · CSV/,
  );
  expect(line({ prepared: { ...prepared, form: "utf16" } })).toContain("· UTF-16 ·");
  const jsonl = { format: "jsonl", reading: null, rows: [row(1, ["{}"])] } as const;
  expect(line({ ...jsonl, rows: [...jsonl.rows] })).toBe("JSON Lines · 6 columns");
  expect(line({ reading: null })).toBe("");
});
