import { expect, test, vi } from "vitest";

// The list's reads are irrelevant here, and need a browser.
vi.mock("../../src/api", () => ({}));
const { mergeFirstPage } = await import("../../src/load");

const page = (items: string, nextCursor: string | null) => ({ items: [...items], nextCursor });

test.each([
  ["new items come first", page("cba", "1"), page("edc", "2"), page("edcba", "1")],
  ["deleted items disappear", page("edcba", "1"), page("ecb", "2"), page("ecba", "1")],
  ["the only page is replaced", page("cba", "1"), page("dcb", "2"), page("dcba", "1")],
  ["a first page with the whole list replaces it", page("cba", "1"), page("c", null), page("c", null)],
  ["a gap is not hidden", page("cba", "1"), page("zyx", "2"), page("zyx", "2")],
  ["nothing remains after the first page", page("cba", "1"), page("cba", "2"), page("cba", "2")],
])("%s", (_, read, first, now) => {
  expect(mergeFirstPage(read, first, (item) => item)).toEqual(now);
});
