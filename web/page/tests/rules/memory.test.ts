/** What the browser remembers: of uploads that have not ended, and for whom. */

import { beforeEach, expect, test, vi } from "vitest";
import {
  begunUpload,
  datasetOf,
  forgetAll,
  forgetUpload,
  rememberFor,
  rememberSchema,
  rememberUpload,
  schemaOf,
  uploadName,
} from "../../src/memory";

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
});

const begun = (fileGuid: string) => ({ fileGuid, fileName: "a.csv", size: 4, lastModified: 1 });
const file = (name: string) => new File(["id\n1"], name, { lastModified: 1 });

test("each file, and each header of it, has an upload of its own", () => {
  const names = [
    uploadName(file("a.csv"), null),
    uploadName(file("b.csv"), null),
    uploadName(file("a.csv"), "ID"),
  ];
  for (const [at, name] of names.entries()) rememberUpload(name, begun(`guid ${at}`));
  forgetUpload(names[1] ?? "", "guid 1");
  expect(names.map((name) => begunUpload(name)?.fileGuid)).toEqual(["guid 0", undefined, "guid 2"]);
});

test("the end of an upload does not forget one that another tab has begun since", () => {
  const name = uploadName(file("a.csv"), null);
  rememberUpload(name, begun("of another tab"));
  forgetUpload(name, "of this tab");
  expect(begunUpload(name)?.fileGuid).toBe("of another tab");
});

test("what every object has is not remembered", () => {
  expect(datasetOf("constructor")).toBeUndefined();
});

test("one person is not told what another did in this browser", () => {
  const schema = { name: "people.json", text: "{}" };
  rememberFor("ann");
  rememberSchema("people", schema);
  rememberFor("bob");
  expect(schemaOf("people")).toBeUndefined();
  forgetAll();
  rememberFor("ann");
  expect(schemaOf("people")).toEqual(schema);
});
