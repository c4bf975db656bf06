/** The beginning of a file before its upload: its rows, its mapping, and its problems and warnings. */

import { expect, test } from "vitest";
import { nameColumns } from "../../src/file/column-names";
import { columnsOption, guessMapping, renamed, renameRow, UNMAPPED } from "../../src/file/mapping";
import { findProblems, guessKey, isBlocking } from "../../src/file/problems";
import { coerce, readSchema, type Schema, UNKNOWN } from "../../src/file/schema";
import { readSheet, type Sheet } from "../../src/file/sheet";

const file = (name: string, ...parts: BlobPart[]) => new File(parts, name);

async function sheet(name: string, ...parts: BlobPart[]): Promise<Sheet> {
  const found = await readSheet(file(name, ...parts));
  if (typeof found === "string") throw new Error(found);
  return found;
}

function field(name: string) {
  return { name, required: false, types: ["string"] };
}

test("reads columns, rows and delimiter", async () => {
  for (const delimiter of [",", ";", "\t"]) {
    const content = `id,"full name"\r\n1,"Ann\nB"\r\n2,\r\n`.replaceAll(",", delimiter);
    const found = await sheet("people.csv", content);
    expect(found).toMatchObject({ delimiter, columns: ["id", "full name"], isComplete: true });
    expect(found.rows).toEqual([{ id: "1", "full name": "Ann\nB" }, { id: "2" }]);
  }
});

test("a row that is cut off at the end is left out", async () => {
  const line = `1,${"x".repeat(9999)}\n`;
  const found = await sheet("wide.csv", "id,text\n", line.repeat(40));
  expect(found.isComplete).toBe(false);
  expect(found.rows.every((row) => String(row.text).length === 9999)).toBe(true);
  expect(found.rows.length).toBeGreaterThan(20);
});

test("files that are not text are refused by their kind", async () => {
  const refused: [File, string][] = [
    [file("a.xlsx", "PK\x03\x04"), "workbook"],
    [file("a.csv", "PK\x03\x04"), "archive"],
    [file("a.csv", "%PDF-1.7"), "pdf"],
    [file("a.csv", "id\0name"), "binary"],
    [file("a.csv", new Uint8Array([0xff, 0xfe, 0x69, 0x00])), "not-utf8"],
    [file("a.csv", new Uint8Array([0x69, 0xe4, 0x0a, 0x31])), "not-utf8"],
    [file("a.csv", " \n\n"), "empty"],
  ];
  for (const [given, reason] of refused) expect(await readSheet(given), given.name).toBe(reason);
});

test("an invalid byte below the header does not refuse the file", async () => {
  const found = await sheet("a.csv", "id,name\n1,", new Uint8Array([0xe4]), "\n");
  expect(found.columns).toEqual(["id", "name"]);
});

test("reads JSON Lines and reports invalid lines", async () => {
  const found = await sheet("a.jsonl", '{"id":1}\n\nnot\n{"id":2,"name":"Bob"}\n');
  expect(found).toMatchObject({ format: "json-lines", columns: ["id", "name"], badLines: [2] });
  expect(found.rows).toEqual([{ id: 1 }, { id: 2, name: "Bob" }]);
});

test("guesses fields by name, each column once", () => {
  const fields = ["id", "e_mail", "name", "birthday"].map((name) => field(name));
  const guess = guessMapping(fields, ["ID", "E-Mail", "Full name", "shoe size"]);
  expect(Object.fromEntries(guess)).toEqual({ id: "ID", e_mail: "E-Mail", name: "Full name" });
  expect(renamed(["ID", "E-Mail", "Full name", "shoe size"], guess)).toEqual([
    "id",
    "e_mail",
    "name",
    "shoe size",
  ]);
});

test("a mapping names the columns that are called otherwise", () => {
  const mapping = new Map([
    ["id", "id"],
    ["size, cm", "Größe"],
  ]);
  expect(columnsOption(mapping)).toEqual({ Größe: "size, cm" });
  expect(columnsOption(UNMAPPED)).toEqual({});
});

test("the delimiter is guessed from the header alone", async () => {
  expect(await sheet("a.csv", "note\na;b;c\nd;e;f\n")).toMatchObject({ delimiter: ",", columns: ["note"] });
  expect((await sheet("a.csv", '"a;b"\n1\n')).delimiter).toBe(",");
  expect((await sheet("a.csv", "id;name\n1,2,3;4,5,6\n")).delimiter).toBe(";");
});

test("columns are named as in the import", async () => {
  for (const [header, names] of [
    ["a, b ", "a,b"],
    ["a,a,a", "a,a_2,a_3"],
    ["a,a,a_2,a", "a,a_3,a_2,a_4"],
    [",column_1,a,", "column_5,column_1,a,column_4"],
    ["a,,a", "a,column_2,a_2"],
    ["\ufeffa,\ufeffa ", "a,a_2"],
  ] as const) {
    expect(nameColumns(header.split(",")).join(","), header).toBe(names);
  }
  const found = await sheet("a.csv", "id, name,\n1,Ann,x\n");
  expect(found).toMatchObject({
    columns: ["id", "name", "column_3"],
    rows: [{ id: "1", name: "Ann", column_3: "x" }],
  });
});

test("a column may have the name of a built-in property", async () => {
  const found = await sheet("a.csv", "id,constructor,__proto__\n1,,\n2,x,y\n");
  expect(found.rows.map((row) => row.constructor)).toEqual([undefined, "x"]);
  expect(found.rows.map((row) => Object.keys(row))).toEqual([["id"], ["id", "constructor", "__proto__"]]);
  expect((await sheet("a.jsonl", '{"id":1}\n')).rows[0]?.constructor).toBeUndefined();
  const guess = guessMapping([field("constructor"), field("toString")], ["to string"]);
  expect([...guess]).toEqual([["toString", "to string"]]);
  expect(renameRow(found.rows[1] ?? {}, new Map([["valueOf", "id"]])).valueOf).toBe("2");
});

test("a file that the browser cannot read is reported", async () => {
  const unreadable = new File(["id\n1\n"], "gone.csv");
  unreadable.slice = () =>
    ({ arrayBuffer: () => Promise.reject(new Error("NotFoundError")) }) as unknown as Blob;
  expect(await readSheet(unreadable)).toBe("unread");
});

const SCHEMA = schema({
  required: ["id", "age"],
  properties: { id: { type: "string" }, age: { type: "integer", minimum: 0 }, when: { $ref: "#/$defs/day" } },
  $defs: { day: { type: "string", pattern: "^\\d{4}" } },
});

function schema(document: object): Schema {
  const read = readSchema("schema.json", JSON.stringify(document));
  if (!read) throw new Error("no schema");
  return read;
}

async function problems(content: string, given: Schema | null = SCHEMA, name = "people.csv") {
  const found = await sheet(name, content);
  const mapping = given && found.format === "csv" ? guessMapping(given.fields, found.columns) : UNMAPPED;
  return findProblems(found, { key: "id", schema: given, mapping });
}

test("a file with rows that can succeed has no problems", async () => {
  expect(await problems("id,age\n1,30\n")).toEqual([]);
  expect(await problems("id,age\n1,30\n2,old\n")).toEqual([]);
  expect(await problems("id,anything\n1,x\n", null)).toEqual([]);
});

test("problems that fail every row are found", async () => {
  expect(await problems("id;age\n1;30\n")).toEqual([{ kind: "delimiter", delimiter: ";" }]);
  expect(await problems("id,id\n1,2\n", null)).toEqual([]);
  const twice = { key: "id", schema: null, mapping: new Map([["id", "Nr"]]) };
  expect(findProblems(await sheet("a.csv", "id,Nr\n1,2\n"), twice)).toEqual([
    { kind: "duplicate-column", column: "id" },
  ]);
  expect(await problems("id,age\n")).toEqual([{ kind: "no-rows" }]);
  expect(await problems("name\nAnn\n", null)).toEqual([{ kind: "no-key", key: "id" }]);
  expect(await problems("id,shoe\n1,40\n")).toEqual([{ kind: "missing-field", field: "age" }]);
  expect(await problems("no\nnot\n", SCHEMA, "a.jsonl")).toEqual([{ kind: "not-json" }]);
  const strict = schema({ properties: { id: {} }, additionalProperties: false });
  expect(await problems("id,more\n1,2\n", strict)).toEqual([{ kind: "unknown-columns", columns: ["more"] }]);
});

test("cells that only the import can convert are not reported", async () => {
  const given = schema({
    properties: { id: {}, price: { type: "number" }, on: { type: "string", format: "date" } },
  });
  expect(await problems('id,price,on\n1,"1.234,5",13.2.2024\n', given)).toEqual([]);
  expect(await problems("id,price,on\n1,free,\n", given)).toMatchObject([
    { kind: "every-row", field: "price" },
  ]);
});

test("a violation that all first rows share is reported once", async () => {
  const [found, ...others] = await problems("id,age\n1,old\n2,-1\n3,young\n");
  expect(others).toEqual([]);
  expect(found).toMatchObject({ kind: "every-row", field: "age", rows: 3 });
  expect(await problems("id,age\n1,\n2,\n")).toMatchObject([{ kind: "every-row", field: "age", rows: 2 }]);
});

test("a field with an unsupported rule is not checked", async () => {
  expect(await problems("id,age,when\n1,30,soon\n")).toEqual([]);
});

test("warnings do not block", async () => {
  const kinds = async (...given: Parameters<typeof problems>) => {
    const found = await problems(...given);
    return [found.map(({ kind }) => kind), found.some(isBlocking)];
  };
  expect(await kinds("id,age\n1,old\n")).toEqual([["every-row"], false]);
  expect(await kinds("id;age\n1;30\n")).toEqual([["delimiter"], true]);
  expect(await kinds("id\n1\n")).toEqual([["missing-field"], true]);
  const open = {
    properties: { id: {} },
    additionalProperties: false,
    patternProperties: { "^x_": {}, "(?i)y": {} },
  };
  expect(await kinds("id,x_1\n1,2\n", schema(open))).toEqual([["schema-not-supported"], false]);
  const closed = schema({ properties: { id: {} }, additionalProperties: false });
  expect(await kinds("id,more\n1,2\n3,\n", closed)).toEqual([[], false]);
  expect(await kinds('{"id":"1","age":2,"more":3}\n{"id":"2"}\n', closed, "a.jsonl")).toEqual([[], false]);
});

test("a schema that the browser does not support is left to the server", async () => {
  const of = (id: unknown, more = {}) => schema({ properties: { id }, ...more });
  for (const strange of [
    of({ type: "string", pattern: "(?i)^a" }),
    of({ $ref: "https://example.com/other.json" }),
    of({ enum: "a" }),
    of({ type: "string", allOf: 7 }),
    of({}, { $id: "http://[" }),
  ]) {
    expect(await problems("id,age\n1,30\n", strange)).toEqual([{ kind: "schema-not-supported" }]);
  }
  expect(await problems("id,age\n1,30\n", schema({ properties: { id: null } }))).toEqual(expect.any(Array));
});

test("empty and repeated keys are reported", async () => {
  expect(await problems("id,name\n,Ann\n,Bob\n", null)).toEqual([
    { kind: "key-empty", key: "id", rows: 2, of: 2 },
  ]);
  expect(await problems("id,name\n1,Ann\n,Bob\n1,Eve\n", null)).toEqual([
    { kind: "key-empty", key: "id", rows: 1, of: 3 },
    { kind: "key-repeats", key: "id", value: "1" },
  ]);
  const found = await sheet("people.csv", "Customer No,name\n7,Ann\n7,Bob\n");
  const mapping = new Map([["customer_no", "Customer No"]]);
  expect(findProblems(found, { key: "Customer No", schema: null, mapping })).toEqual([
    { kind: "key-repeats", key: "customer_no", value: "7" },
  ]);
});

test("the key is guessed by the columns' names, then by their values", async () => {
  const guess = async (content: string, names?: string[]) => {
    const found = await sheet("people.csv", content);
    return guessKey(found, names ?? found.columns);
  };
  expect(await guess("name,email,id\nAnn,a@example.com,1\n")).toBe("id");
  expect(await guess("name,Nr\nAnn,1\nAnn,2\n")).toBe("Nr");
  expect(await guess("name,town\nAnn,Bonn\nAnn,Bonn\n")).toBe("name");
  expect(await guess("name,Nr\nAnn,1\n", ["name", "id"])).toBe("Nr");
});

test("rows with too many or too few cells are reported", async () => {
  expect(await problems("id,name\n1,Ann,\n2,Bob,\n", null)).toEqual([{ kind: "cells", more: true, rows: 2 }]);
  expect(await problems("id,name\n1\n2\n", null)).toEqual([{ kind: "cells", more: false, rows: 2 }]);
  expect(await problems("id,name\n1,Ann,\n2,Bob\n", null)).toEqual([]);
  expect(await problems("id,,name,\n1,a,Ann,b\n", null)).toEqual([]);
  expect(await problems('{"id":"1"}\nno\n', null, "a.jsonl")).toEqual([{ kind: "bad-lines", lines: [2] }]);
});

test("cells are converted to the schema's types, as in the import", () => {
  expect(coerce("007", ["string"])).toBe("007");
  expect(coerce("42", ["string", "integer"])).toBe("42");
  expect(coerce(" 42 ", ["integer"])).toBe(42);
  expect(coerce("+42", ["integer"])).toBe(42);
  expect(typeof coerce("1234567890123456", ["integer"])).toBe("number");
  expect(typeof coerce("18446744073709551615", ["integer"])).toBe("number");
  expect(typeof coerce("-9223372036854775808", ["number"])).toBe("number");
  expect(coerce("18446744073709551616", ["integer"])).toBe("18446744073709551616");
  expect(coerce("99999999999999999999", ["number"])).toBe("99999999999999999999");
  for (const cell of ["1.5", "1,5", "-.5", "1.234,50", "1 234", "1’234", "\u22125", "1e3"])
    expect(coerce(cell, ["number"]), cell).toBe(UNKNOWN);
  for (const cell of ["n/a", "12a", "", "-", "1.5 €"]) expect(coerce(cell, ["number"]), cell).toBe(cell);
  expect(coerce("TRUE", ["boolean"])).toBe(true);
  expect(coerce("ja", ["boolean"])).toBe(UNKNOWN);
  for (const cell of ["1", "y", "not sure"]) expect(coerce(cell, ["boolean"]), cell).toBe(cell);
});
