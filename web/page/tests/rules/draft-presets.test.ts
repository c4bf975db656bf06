/** The presets of a draft: the columns as they were mapped before, and the user's choices, which win. */

import { expect, test } from "vitest";
import { readSchema } from "../../src/file/schema";
import { answerOf, begin, createJob, draft, inspect, pass, requests } from "./draft-world";

const COLUMNS = ["E-Mail", "Name", "Status", "Notiz"];
const PRESET = {
  key: "mail",
  columns: { "E-Mail": "mail", Status: "state", Notiz: null },
  values: { state: { Ja: true }, other: { Nein: false } },
};
const PRESET_OPTIONS = {
  key: "mail",
  columns: { "E-Mail": "mail", Status: "state", Notiz: null },
  values: { state: { Ja: true } },
};

test("a preset maps the columns, once, until the user ignores it", async () => {
  inspect.mockImplementation(answerOf(COLUMNS, { "kunden-2026": PRESET }));
  begin();
  await pass();
  // The file, then the request that brings the preset, then the one that uses it.
  expect(requests()).toHaveLength(3);
  expect(requests()[1]?.options).toMatchObject({ key: "E-Mail", columns: {} });
  expect(requests()[2]?.options).toEqual({ dataset: "kunden-2026", mode: "upsert", ...PRESET_OPTIONS });
  expect([draft.plan.presetDataset.value, draft.isStale.value]).toEqual(["kunden-2026", false]);
  draft.plan.usesPreset.value = false;
  await pass();
  const byName = { dataset: "kunden-2026", mode: "upsert", key: "E-Mail", columns: {} };
  expect(requests().slice(3)).toEqual([expect.objectContaining({ options: byName })]);
  expect(draft.plan.presetDataset.value).toBe("kunden-2026");
  draft.plan.usesPreset.value = true;
  const job = draft.start();
  await pass();
  await job;
  expect(createJob.mock.calls[0]?.[0].options).toMatchObject(PRESET_OPTIONS);
});

test("another dataset brings its own preset, and keeps the user's choices", async () => {
  const another = { key: "title", columns: { Name: "title", Status: "status", Notiz: "note" }, values: {} };
  inspect.mockImplementation(answerOf(COLUMNS, { "kunden-2026": PRESET, another }));
  begin();
  await pass();
  draft.plan.leaveOut("Notiz", false);
  draft.plan.leaveOut("Status", true);
  await pass();
  expect(requests().at(-1)?.options).toMatchObject({
    columns: { "E-Mail": "mail", Status: null },
  });
  expect(requests().at(-1)?.options).not.toHaveProperty("values");
  draft.plan.choose({ key: "E-Mail", dataset: "another" });
  await pass();
  expect(requests().at(-1)?.options).toMatchObject({
    dataset: "another",
    key: "E-Mail",
    columns: { Name: "title", Status: null, Notiz: "note" },
  });
  expect(draft.plan.presetDataset.value).toBe("another");
  inspect.mockClear();
  draft.plan.choose({ dataset: "new" });
  await pass();
  expect(requests().map(({ options }) => options?.columns)).toEqual([
    { Name: "title", Status: null, Notiz: "note" },
    { Status: null },
  ]);
  expect(draft.plan.presetDataset.value).toBeNull();
});

test("fields have the preset's columns, others are guessed, and the user's choice wins", async () => {
  inspect.mockImplementation(answerOf([...COLUMNS, "Staat"], { "kunden-2026": PRESET }));
  begin();
  await pass();
  const schema = readSchema("a.json", '{"properties": {"name": {}, "state": {}, "notiz": {}, "remark": {}}}');
  draft.plan.choose({ schema });
  await pass();
  // A column that the preset leaves out is not guessed for a field.
  expect(Object.fromEntries(draft.plan.mapping.value)).toEqual({
    mail: "E-Mail",
    name: "Name",
    state: "Status",
  });
  draft.plan.map("state", "Staat");
  draft.plan.map("remark", "E-Mail");
  draft.plan.map("notiz", "Notiz");
  await pass();
  expect(requests().at(-1)?.options?.columns).toEqual({
    "E-Mail": "remark",
    Name: "name",
    Notiz: "notiz",
    Staat: "state",
  });
  draft.plan.map("name", "Staat");
  expect(draft.plan.mapping.value.get("state")).toBe("Status");
  draft.plan.map("state", "");
  expect(draft.plan.mapping.value.get("state")).toBeUndefined();
  // Choices are for columns of the file, and for fields of one schema.
  inspect.mockImplementation(answerOf(["Name", "Remark", "State"]));
  draft.plan.read({ delimiter: ";" });
  await pass();
  expect(Object.fromEntries(draft.plan.mapping.value)).toEqual({ name: "Name", remark: "Remark" });
  draft.plan.choose({ schema });
  expect(draft.plan.mapping.value.get("state")).toBe("State");
});

test("a preset renames properties of JSON Lines, which are not matched to fields", async () => {
  const preset = { key: null, columns: { "E-Mail": "mail" }, values: {} };
  inspect.mockImplementation(async (...call) => ({
    ...(await answerOf([], { "kunden-2026": preset })(...call)),
    format: "jsonl",
    rows: [{ number: 1, sheetRow: null, cells: ['{"E-Mail":"a","Name":"b"}'], problem: null }],
  }));
  begin();
  draft.plan.choose({ schema: readSchema("a.json", '{"properties": {"mail": {}, "name": {}}}') });
  await pass();
  expect(requests().at(-1)?.options?.columns).toEqual({ "E-Mail": "mail" });
  expect(draft.plan.fields.value).toEqual([]);
});

test("a preset that changes nothing is not told", async () => {
  const same = { key: "id", columns: { id: "id" }, values: { gone: { a: "b" } } };
  inspect.mockImplementation(answerOf(["id", "Name"], { "kunden-2026": same }));
  begin();
  await pass();
  expect([draft.plan.presetDataset.value, requests().length]).toEqual([null, 2]);
});

test.each([
  ["a key", { key: "Name", columns: {}, values: {} }],
  ["values", { key: null, columns: {}, values: { Name: { a: "b" } } }],
])("a preset that changes only %s is told", async (_, preset) => {
  inspect.mockImplementation(answerOf(["id", "Name"], { "kunden-2026": preset }));
  begin();
  await pass();
  expect([draft.plan.presetDataset.value, requests().length]).toEqual(["kunden-2026", 3]);
});
