/** Problems and warnings of a file, before its upload. */

import { expect, test } from "vitest";
import { guessKey } from "../../src/file/key";
import { guessMapping, UNMAPPED } from "../../src/file/mapping";
import { findProblems, isBlocking } from "../../src/file/problems";
import { coerce, readSchema, type Schema } from "../../src/file/schema";
import { readSheet, type Sheet } from "../../src/file/sheet";

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
  const sheet = await read(content, name);
  const mapping = given && sheet.format === "csv" ? guessMapping(given.fields, sheet.columns) : UNMAPPED;
  return findProblems(sheet, { key: "id", schema: given, mapping });
}

async function read(content: string, name = "people.csv"): Promise<Sheet> {
  return (await readSheet(new File([content], name))) as Sheet;
}

test("a file with rows that can succeed has no problems", async () => {
  expect(await problems("id,age\n1,30\n")).toEqual([]);
  expect(await problems("id,age\n1,30\n2,old\n")).toEqual([]);
  expect(await problems("id,anything\n1,x\n", null)).toEqual([]);
});

test("problems that fail every row are found", async () => {
  expect(await problems("id;age\n1;30\n")).toEqual([{ kind: "delimiter", delimiter: ";" }]);
  expect(await problems("id,id\n1,2\n")).toEqual([{ kind: "duplicate-column", column: "id" }]);
  expect(await problems("id,age\n")).toEqual([{ kind: "no-rows" }]);
  expect(await problems("name\nAnn\n", null)).toEqual([{ kind: "no-key", key: "id" }]);
  expect(await problems("id,shoe\n1,40\n")).toEqual([{ kind: "missing-field", field: "age" }]);
  expect(await problems("no\nnot\n", SCHEMA, "a.jsonl")).toEqual([{ kind: "not-json" }]);
  const strict = schema({ properties: { id: {} }, additionalProperties: false });
  expect(await problems("id,more\n1,2\n", strict)).toEqual([{ kind: "unknown-columns", columns: ["more"] }]);
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
  const sheet = await read("Customer No,name\n7,Ann\n7,Bob\n");
  const mapping = new Map([["customer_no", "Customer No"]]);
  expect(findProblems(sheet, { key: "Customer No", schema: null, mapping })).toEqual([
    { kind: "key-repeats", key: "customer_no", value: "7" },
  ]);
});

test("the key is guessed by the columns' names, then by their values", async () => {
  const guess = async (content: string, names?: string[]) => {
    const sheet = await read(content);
    return guessKey(sheet, names ?? sheet.columns);
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
  expect(await problems("id,,name,\n1,a,Ann,b\n", null)).toEqual([
    { kind: "nameless-columns", columns: [2, 4] },
  ]);
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
  expect(coerce("1e999", ["number"])).toBe("1e999");
  expect(coerce("1.0", ["integer"])).toBe("1.0");
  expect(coerce("-.5", ["number"])).toBe(-0.5);
  expect(coerce("1,5", ["number"])).toBe("1,5");
  expect(coerce("TRUE", ["boolean"])).toBe(true);
  expect(coerce("yes", ["boolean"])).toBe("yes");
});
