/** The rows of a job's results as a table. */

import { expect, test } from "vitest";
import { resultColumns, resultRow } from "../../src/results";

test("a numbered row and a plain one are told apart", () => {
  expect(resultRow({ number: 7, output: { a: 1, b: null } })).toEqual({
    item: 7,
    members: { a: 1, b: null },
  });
  expect(resultRow({ number: 7, output: [1] })).toEqual({ item: 7, members: { "": [1] } });
  expect(resultRow({ number: 7, output: 1, more: 2 })).toEqual({
    item: null,
    members: { number: 7, output: 1, more: 2 },
  });
  expect(resultRow("text")).toEqual({ item: null, members: { "": "text" } });
});

test("the columns are those of all rows, in their order", () => {
  const rows = [{ id: 1, name: "Ada" }, { name: "Bob", id: 2, city: "Ulm" }, 3].map(resultRow);
  expect(resultColumns(rows)).toEqual(["id", "name", "city", ""]);
  const wide = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`c${at}`, at]));
  expect(resultColumns([resultRow(wide)])).toHaveLength(30);
});
