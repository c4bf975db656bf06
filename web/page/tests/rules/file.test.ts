/** A picked file: its sample, the rows of the server's answer, and the line of its reading. */

import type { Inspection } from "longshore-client";
import { expect, test } from "vitest";
import { readingLine } from "../../src/components/reading-line";
import { isReadable, sampleOf } from "../../src/file/beginning";
import { withGiven } from "../../src/file/inspection";
import { haveSheetRows, problemGroups, tableOf } from "../../src/file/table";
import { csv, row } from "./rows";

const MIB = 1024 * 1024;

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
