import { beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
});

const { forgetAll, rememberFor, rememberSchema, schemaOf } = await import("../../src/memory");

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
