/** What is found to fail every row, and what is not. */

import { expect, test } from "vitest";
import { guessMapping } from "../../src/file/mapping";
import { findProblems } from "../../src/file/problems";
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
  const sheet = (await readSheet(new File([content], name))) as Sheet;
  const mapping = given ? guessMapping(given.fields, sheet.columns) : {};
  return findProblems(sheet, { key: "id", schema: given, mapping });
}

test("a file whose rows may succeed has none", async () => {
  expect(await problems("id,age\n1,30\n")).toEqual([]);
  expect(await problems("id,age\n1,30\n2,old\n")).toEqual([]);
  expect(await problems("id,anything\n1,x\n", null)).toEqual([]);
});

test("what every row lacks is named", async () => {
  expect(await problems("id;age\n1;30\n")).toEqual([{ kind: "delimiter", delimiter: ";" }]);
  expect(await problems("id,id\n1,2\n")).toEqual([{ kind: "duplicate-column", column: "id" }]);
  expect(await problems("id,age\n")).toEqual([{ kind: "no-rows" }]);
  expect(await problems("name\nAnn\n", null)).toEqual([{ kind: "no-key", key: "id" }]);
  expect(await problems("id,shoe\n1,40\n")).toEqual([{ kind: "missing-field", field: "age" }]);
  expect(await problems("no\nnot\n", SCHEMA, "a.jsonl")).toEqual([{ kind: "not-json" }]);
  const strict = schema({ properties: { id: {} }, additionalProperties: false });
  expect(await problems("id,more\n1,2\n", strict)).toEqual([{ kind: "unknown-columns", columns: ["more"] }]);
});

test("what each of the first rows fails by is named, once", async () => {
  const [found, ...others] = await problems("id,age\n1,old\n2,-1\n3,young\n");
  expect(others).toEqual([]);
  expect(found).toMatchObject({ kind: "every-row", field: "age", rows: 3 });
  expect(await problems("id,age\n1,\n2,\n")).toMatchObject([{ kind: "every-row", field: "age", rows: 2 }]);
});

test("a field whose rule is not followed here is not judged", async () => {
  expect(await problems("id,age,when\n1,30,soon\n")).toEqual([]);
});

test("a cell becomes what the schema wants, as the import does it", () => {
  expect(coerce("007", ["string"])).toBe("007");
  expect(coerce("42", ["string", "integer"])).toBe("42");
  expect(coerce(" 42 ", ["integer"])).toBe(42);
  expect(coerce("1.0", ["integer"])).toBe("1.0");
  expect(coerce("-.5", ["number"])).toBe(-0.5);
  expect(coerce("1,5", ["number"])).toBe("1,5");
  expect(coerce("TRUE", ["boolean"])).toBe(true);
  expect(coerce("yes", ["boolean"])).toBe("yes");
});
