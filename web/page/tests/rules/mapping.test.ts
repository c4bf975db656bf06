/** The mapping of a file's columns: its key, the fields of a schema, presets, and the user's choices. */

import { expect, test } from "vitest";
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
import { csv, row } from "./rows";

const field = (name: string): Field => ({ name, required: false, kind: "other" });

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
