/** The request of an export. */

import { expect, test } from "vitest";
import { columnsOf, columnsProblem, type ExportChoices, exportRequest } from "../../src/exports";

const choices: ExportChoices = {
  format: "csv",
  gzip: true,
  delimiter: ";",
  bom: true,
  columns: columnsOf(["id", "name", "age"]),
};

test("columns that the user has not changed are left to the API", () => {
  const results = { format: "csv", gzip: true, delimiter: ";", bom: true };
  expect(exportRequest("people", choices)).toEqual({
    jobType: "export",
    source: { dataset: "people" },
    results,
  });
});

test("chosen columns are sent in order, under their new names", () => {
  const [id, name, age] = choices.columns;
  if (!id || !name || !age) throw new Error("three columns");
  const columns = [id, { ...name, heading: "Name" }, { ...age, included: false }];
  expect(exportRequest("people", { ...choices, columns }).results?.columns).toEqual([
    { name: "id" },
    { name: "name", as: "Name" },
  ]);
});

test("columns that cannot be exported have a problem", () => {
  const [id, name] = columnsOf(["id", "name"]);
  if (!id || !name) throw new Error("two columns");
  const out = { included: false };
  expect(columnsProblem([id, name])).toBeNull();
  expect(columnsProblem([])).toBeNull();
  expect(
    columnsProblem([
      { ...id, ...out },
      { ...name, ...out },
    ]),
  ).toEqual({ kind: "none" });
  expect(columnsProblem([id, { ...name, heading: "" }])).toEqual({ kind: "unnamed" });
  expect(columnsProblem([id, { ...name, heading: "", ...out }])).toBeNull();
  expect(columnsProblem([id, { ...name, heading: "id" }])).toEqual({ kind: "repeated", heading: "id" });
  expect(columnsProblem([id, { ...name, heading: "id", ...out }])).toBeNull();
});

test("JSON Lines have no choices of CSV", () => {
  expect(exportRequest("people", { ...choices, format: "jsonl" }).results).toEqual({
    format: "jsonl",
    gzip: true,
  });
});

test("a workbook is not compressed again", () => {
  expect(exportRequest("people", { ...choices, format: "xlsx" }).results).toEqual({
    format: "xlsx",
    gzip: false,
  });
});
