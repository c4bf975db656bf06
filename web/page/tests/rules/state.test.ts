/**
 * The page's state: the view of its address, the pages of a list, and the browser's memory of unfinished uploads, separated
 * by user.
 */

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

// The list's reads are irrelevant here, and need a browser.
vi.mock("../../src/api", () => ({}));
const { mergeFirstPage } = await import("../../src/load");
// Read when the router is loaded.
vi.stubGlobal("location", { pathname: "/", search: "" });
const { goToQuery, parseRoute } = await import("../../src/router");

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

test.each([
  ["/", { view: "import" }],
  ["/jobs", { view: "jobs" }],
  ["/jobs/", { view: "jobs" }],
  ["/jobs/1/", { view: "job", jobId: "1" }],
  ["/datasets/a%20b/", { view: "records", dataset: "a b" }],
  ["/types/", { view: "types" }],
  ["/types/invite", { view: "type", name: "invite" }],
  ["/jobs/1/2", { view: "unknown" }],
  ["/operations", { view: "operations", part: "jobs" }],
  ["/operations/dead-letters", { view: "operations", part: "dead-letters" }],
  ["/operations/other", { view: "unknown" }],
  ["/elsewhere", { view: "unknown" }],
])("the view of %s", (path, route) => {
  expect(parseRoute(path)).toEqual(route);
});

const page = (items: string, nextCursor: string | null) => ({ items: [...items], nextCursor });

test.each([
  ["new items come first", page("cba", "1"), page("edc", "2"), page("edcba", "1")],
  ["deleted items disappear", page("edcba", "1"), page("ecb", "2"), page("ecba", "1")],
  ["the only page is replaced", page("cba", "1"), page("dcb", "2"), page("dcba", "1")],
  ["a first page with the whole list replaces it", page("cba", "1"), page("c", null), page("c", null)],
  ["a gap is not hidden", page("cba", "1"), page("zyx", "2"), page("zyx", "2")],
  ["nothing remains after the first page", page("cba", "1"), page("cba", "2"), page("cba", "2")],
])("a refreshed list: %s", (_, read, first, now) => {
  expect(mergeFirstPage(read, first, (item) => item)).toEqual(now);
});

test("each file has its own upload", () => {
  const names = [uploadKey(file("a.csv")), uploadKey(file("b.csv")), uploadKey(file("c.csv"))];
  for (const [at, name] of names.entries()) rememberUpload(name, begun(`guid ${at}`));
  forgetUpload(names[1] ?? "", "guid 1");
  expect(names.map((name) => unfinishedUpload(name)?.fileGuid)).toEqual(["guid 0", undefined, "guid 2"]);
});

test("the end of an upload keeps a newer one of another tab", () => {
  const name = uploadKey(file("a.csv"));
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

test("a query that is unchanged is no step of the history", () => {
  const pushed: string[] = [];
  const pushState = (_: unknown, __: string, address: string) => {
    pushed.push(address);
    Object.assign(location, { search: new URL(address, "https://page.example").search });
  };
  vi.stubGlobal("history", { pushState });
  // Enter in a filter, and then the field's own change of the same value.
  for (const type of ["a b", "a b", ""]) goToQuery(new URLSearchParams(type && { type }));
  expect(pushed).toEqual(["/?type=a+b", "/"]);
});
