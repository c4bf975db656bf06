/** Reading the beginning of a file. */

import { expect, test } from "vitest";
import { guessMapping, newHeader, renamed, renameRow, withHeader } from "../../src/file/mapping";
import { readSheet, type Sheet } from "../../src/file/sheet";

const file = (name: string, ...parts: BlobPart[]) => new File(parts, name);

async function sheet(name: string, ...parts: BlobPart[]): Promise<Sheet> {
  const found = await readSheet(file(name, ...parts));
  if (typeof found === "string") throw new Error(found);
  return found;
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

test("a mapped file has a new header and the same bytes after it", async () => {
  const mark = new Uint8Array([0xef, 0xbb, 0xbf]);
  const rows = new Uint8Array([0x31, 0x2c, 0xe4, 0x0a, 0x32, 0x2c, 0x22, 0x0a, 0x22]);
  const given = file("a.csv", mark, "Id,Größe\r\n", rows);
  const found = await sheet("a.csv", mark, "Id,Größe\r\n", rows);
  expect(newHeader(found, new Map([["Id", "Id"]]))).toBeNull();
  expect(withHeader(given, found, null)).toBe(given);
  const mapping = new Map([
    ["id", "Id"],
    ["size, cm", "Größe"],
  ]);
  const mapped = withHeader(given, found, newHeader(found, mapping));
  expect(mapped.lastModified).toBe(given.lastModified);
  const bytes = new Uint8Array(await mapped.arrayBuffer());
  const header = new TextEncoder().encode('id,"size, cm"\r\n');
  expect([...bytes]).toEqual([...header, ...rows]);
});

test("the delimiter is guessed from the header alone", async () => {
  expect(await sheet("a.csv", "note\na;b;c\nd;e;f\n")).toMatchObject({ delimiter: ",", columns: ["note"] });
  expect((await sheet("a.csv", '"a;b"\n1\n')).delimiter).toBe(",");
  expect((await sheet("a.csv", "id;name\n1,2,3;4,5,6\n")).delimiter).toBe(";");
});

test("a header keeps its spaces, and loses columns without a name", async () => {
  const found = await sheet("a.csv", "id, name,\n1,Ann,x\n");
  expect(found).toMatchObject({ header: ["id", " name", ""], columns: ["id", " name"], rows: [{ id: "1" }] });
  expect(newHeader(found, new Map([["name", " name"]]))).toBe("id,name,");
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

function field(name: string) {
  return { name, required: false, types: ["string"] };
}
