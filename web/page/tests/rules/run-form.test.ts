/** The form of a job type's options: the subset of JSON Schema, its fields, their values, and hostile schemas. */

import { expect, test } from "vitest";
import { placedErrors } from "../../src/run/errors";
import { type OptionField, optionsForm } from "../../src/run/fields";
import { notDrawn } from "../../src/run/subset";
import { initialEntries, optionsOf, parseOptions, problemsOf } from "../../src/run/values";

/** Returns the fields of a schema with these properties. */
function fields(properties: object, required: string[] = []): readonly OptionField[] {
  const form = optionsForm({ type: "object", properties, required });
  if (form.kind !== "fields") throw new Error(`not drawn: ${form.notDrawn}`);
  return form.fields;
}

/** Returns the only field of a property. */
function field(rule: object, required: string[] = []): OptionField {
  const [only] = fields({ a: rule }, required);
  if (!only) throw new Error("no field");
  return only;
}

/** Returns the options and the problem of the only field with this entry. */
function entered(rule: object, entry: string | boolean, required: string[] = []) {
  const only = [field(rule, required)];
  const entries = new Map([["a", entry]]);
  return { value: optionsOf(only, entries).a, problem: problemsOf(only, entries).get("a") };
}

// The table of the server's own tests (`shared/domain/src/registration/form.rs`).
test.each([
  ["a boolean", true, [""]],
  ["an empty schema", {}, ["/type"]],
  ["an array", { type: "array" }, ["/type"]],
  ["a combination", { type: "object", allOf: [] }, ["/allOf"]],
  ["a schema of others", { type: "object", additionalProperties: {} }, ["/additionalProperties"]],
  ["a list of properties", { type: "object", properties: [] }, ["/properties"]],
  [
    "properties of other kinds",
    {
      type: "object",
      properties: {
        "a/b": { type: "object" },
        "c~": { $ref: "#" },
        d: true,
        e: { type: ["string", "null"] },
        f: { enum: [null] },
        g: { type: "string", format: "email" },
      },
    },
    [
      "/properties/a~1b/type",
      "/properties/c~0/type",
      "/properties/c~0/$ref",
      "/properties/d",
      "/properties/e/type",
      "/properties/f/enum",
      "/properties/g/format",
    ],
  ],
  [
    "a nested object",
    { type: "object", properties: { a: { type: "object", properties: {} } } },
    ["/properties/a/type", "/properties/a/properties"],
  ],
  ["a required option without a rule", { type: "object", required: ["a"] }, ["/required"]],
])("outside of the subset: %s", (_, schema, parts) => {
  expect(notDrawn(schema)).toEqual(parts);
  expect(optionsForm(schema)).toEqual({ kind: "json", notDrawn: parts });
});

test("a flat object of plain properties is inside of the subset", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    title: "Invite",
    description: "Sends invitations.",
    required: ["event"],
    additionalProperties: false,
    properties: {
      event: { type: "string", title: "Event", minLength: 1, maxLength: 9, pattern: "^[a-z]+$" },
      count: { type: "integer", minimum: 1, maximum: 9, default: 3, description: "How many." },
      rate: { type: "number" },
      quiet: { type: "boolean" },
      language: { enum: ["de", "en", 1, true] },
    },
  };
  expect(notDrawn(schema)).toEqual([]);
  expect(optionsForm(schema)).toMatchObject({
    kind: "fields",
    description: "Sends invitations.",
    fields: [
      {
        name: "event",
        title: "Event",
        isRequired: true,
        input: { kind: "text", isLong: false, minLength: 1, maxLength: 9, hasPattern: true },
      },
      {
        name: "count",
        title: "count",
        description: "How many.",
        isRequired: false,
        initial: 3,
        input: { kind: "number", isInteger: true, minimum: 1, maximum: 9 },
      },
      { name: "rate", input: { kind: "number", isInteger: false, minimum: null, maximum: null } },
      { name: "quiet", input: { kind: "choice", values: [true, false] } },
      { name: "language", input: { kind: "choice", values: ["de", "en", 1, true] } },
    ],
  });
});

test("without a schema, the options are one text", () => {
  expect(optionsForm(null)).toEqual({ kind: "json", notDrawn: [] });
  expect(optionsForm({ type: "object" })).toEqual({ kind: "fields", description: null, fields: [] });
});

test.each([
  ["a default of the type", { type: "string", default: "x" }, "x", "x"],
  ["a default of another type", { type: "string", default: 1 }, "", undefined],
  ["a number as default", { type: "number", default: 1.5 }, "1.5", 1.5],
  ["a default that is no choice", { enum: ["a"], default: "b" }, "", undefined],
  ["a choice as default", { enum: ["a", "b"], default: "b" }, "1", "b"],
  ["true as default", { type: "boolean", default: true }, true, true],
  ["false as default", { type: "boolean", default: false }, false, false],
  ["no default", { type: "integer" }, "", undefined],
])("%s", (_, rule, entry, value) => {
  const only = [field(rule)];
  const entries = initialEntries(only);
  expect(entries.get("a")).toBe(entry);
  expect(optionsOf(only, entries)).toEqual(value === undefined ? {} : { a: value });
});

test.each([
  ["a text", { type: "string" }, " a b ", " a b ", undefined],
  ["an empty text is absent", { type: "string" }, "", undefined, undefined],
  ["a number", { type: "number" }, "-1.5e3", -1500, undefined],
  ["a number with white space", { type: "number" }, " 7 ", 7, undefined],
  ["a blank number is absent", { type: "number" }, " ", undefined, undefined],
  ["a word as number", { type: "number" }, "seven", Number.NaN, { kind: "not-a-number" }],
  ["another notation", { type: "integer" }, "0x10", 16, { kind: "not-a-number" }],
  ["infinity", { type: "number" }, "1e999", Number.POSITIVE_INFINITY, { kind: "not-a-number" }],
  ["a fraction as integer", { type: "integer" }, "1.5", 1.5, { kind: "not-whole" }],
  ["1.0 is an integer", { type: "integer" }, "1.0", 1, undefined],
  [
    "more digits than a number keeps",
    { type: "integer" },
    "9007199254740993",
    9007199254740992,
    { kind: "too-many-digits" },
  ],
  ["the minimum", { type: "integer", minimum: 1 }, "1", 1, undefined],
  ["below the minimum", { type: "integer", minimum: 1 }, "0", 0, { kind: "too-small", limit: 1 }],
  ["above the maximum", { type: "number", maximum: 0.5 }, "0.6", 0.6, { kind: "too-large", limit: 0.5 }],
  ["too short", { type: "string", minLength: 2 }, "a", "a", { kind: "too-short", limit: 2 }],
  ["too long", { type: "string", maxLength: 2 }, "abc", "abc", { kind: "too-long", limit: 2 }],
  ["a character outside of 16 bits is one", { type: "string", maxLength: 1 }, "😀", "😀", undefined],
  ["a choice", { enum: ["a", 2, false] }, "2", false, undefined],
  ["no choice is absent", { enum: ["a"] }, "", undefined, undefined],
  ["a choice that does not exist", { enum: ["a"] }, "7", undefined, undefined],
  ["yes", { type: "boolean" }, "0", true, undefined],
  ["no", { type: "boolean" }, "1", false, undefined],
])("an entry: %s", (_, rule, entry, value, problem) => {
  expect(entered(rule, entry)).toEqual({ value, problem });
});

test.each([
  ["a text", { type: "string" }, ""],
  ["a number", { type: "number" }, " "],
  ["a choice", { enum: ["a"] }, ""],
])("%s that is required is missing", (_, rule, entry) => {
  expect(entered(rule, entry, ["a"]).problem).toEqual({ kind: "missing" });
});

test("a required yes or no is a check mark, which always has a value", () => {
  const only = field({ type: "boolean" }, ["a"]);
  expect(only.input).toEqual({ kind: "yes-no" });
  expect(entered({ type: "boolean" }, false, ["a"])).toEqual({ value: false, problem: undefined });
});

test("values of an enum that its type excludes are no choices", () => {
  expect(field({ type: "integer", enum: [1, 1.5, "1", true] }).input).toEqual({
    kind: "choice",
    values: [1],
  });
});

test("a pattern is never run, because one can take forever", () => {
  const slow = { type: "string", pattern: "^(a+)+$" };
  const before = performance.now();
  expect(entered(slow, `${"a".repeat(60)}!`)).toEqual({ value: `${"a".repeat(60)}!`, problem: undefined });
  expect(entered({ type: "string", pattern: "(" }, "x").problem).toBeUndefined();
  expect(performance.now() - before).toBeLessThan(1000);
});

test("long titles and descriptions are cut by characters", () => {
  const { title, description } = field({
    type: "string",
    title: "😀".repeat(5_000),
    description: "x".repeat(9_000),
  });
  expect(title).toBe(`${"😀".repeat(120)}...`);
  expect(description).toHaveLength(603);
  const [long] = fields({ ["n".repeat(9_000)]: { type: "string" } });
  expect([long?.title.length, long?.name.length]).toEqual([123, 9_000]);
});

test("titles of another type or without a character are not used, and equal titles are told apart", () => {
  const rules = [1, null, " ", "Same", "Same"].map((title, at) => [`f${at}`, { type: "string", title }]);
  expect(fields(Object.fromEntries(rules)).map(({ title }) => title)).toEqual([
    "f0",
    "f1",
    "f2",
    "Same (f3)",
    "Same (f4)",
  ]);
});

test("names of members of every object are options like others", () => {
  const schema =
    '{"type":"object","required":["__proto__"],"properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}}';
  const form = optionsForm(JSON.parse(schema));
  if (form.kind !== "fields") throw new Error("not drawn");
  const options = optionsOf(
    form.fields,
    new Map([
      ["__proto__", "x"],
      ["constructor", "1"],
    ]),
  );
  expect(JSON.stringify(options)).toBe('{"__proto__":"x","constructor":1}');
  expect(notDrawn(JSON.parse('{"type":"object","required":["toString"]}'))).toEqual(["/required"]);
});

test("errors of the server are placed at their fields", () => {
  const at = (pointer: string) => ({ pointer, code: "invalid_option", detail: pointer });
  const names = ["event", "a/b", "a~c"];
  const pointers = [
    "/options/event",
    "/options/a/b",
    "/options/a~1b",
    "/options/a~0c/0",
    "/options",
    "/options/eventual",
    "/source/dataset",
    "/fileGuid",
    "/priority",
  ];
  const placed = placedErrors(pointers.map(at), names);
  const shown = (errors: readonly { pointer: string }[] = []) => errors.map(({ pointer }) => pointer);
  expect(shown(placed.fields.get("event"))).toEqual(["/options/event"]);
  expect(shown(placed.fields.get("a/b"))).toEqual(["/options/a/b", "/options/a~1b"]);
  expect(shown(placed.fields.get("a~c"))).toEqual(["/options/a~0c/0"]);
  expect(shown(placed.options)).toEqual(["/options", "/options/eventual"]);
  expect(shown(placed.items)).toEqual(["/source/dataset", "/fileGuid"]);
  expect(shown(placed.others)).toEqual(["/priority"]);
});

test.each([
  ["", {}],
  [' {"a": {"b": [1]}} ', { a: { b: [1] } }],
  ["[1]", null],
  ["null", null],
  ["{", null],
])("the options %j as text", (json, options) => {
  expect(parseOptions(json)).toEqual(options);
});
