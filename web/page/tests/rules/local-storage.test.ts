/** The browser's memory: unfinished uploads, separated by user. */

import { beforeEach, expect, test, vi } from "vitest";
import {
  datasetOf,
  forgetAll,
  forgetUpload,
  rememberSchema,
  rememberUpload,
  schemaOf,
  setStorageOwner,
  unfinishedUpload,
  uploadKey,
} from "../../src/local-storage";

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

test("each file and each of its headers has its own upload", () => {
  const names = [
    uploadKey(file("a.csv"), null),
    uploadKey(file("b.csv"), null),
    uploadKey(file("a.csv"), "ID"),
  ];
  for (const [at, name] of names.entries()) rememberUpload(name, begun(`guid ${at}`));
  forgetUpload(names[1] ?? "", "guid 1");
  expect(names.map((name) => unfinishedUpload(name)?.fileGuid)).toEqual(["guid 0", undefined, "guid 2"]);
});

test("the end of an upload keeps a newer one of another tab", () => {
  const name = uploadKey(file("a.csv"), null);
  rememberUpload(name, begun("of another tab"));
  forgetUpload(name, "of this tab");
  expect(unfinishedUpload(name)?.fileGuid).toBe("of another tab");
});

test("properties of every object are not entries", () => {
  expect(datasetOf("constructor")).toBeUndefined();
});

test("entries of another user are invisible", () => {
  const schema = { name: "people.json", text: "{}" };
  setStorageOwner("ann");
  rememberSchema("people", schema);
  setStorageOwner("bob");
  expect(schemaOf("people")).toBeUndefined();
  forgetAll();
  setStorageOwner("ann");
  expect(schemaOf("people")).toEqual(schema);
});
