/** An import in preparation: which upload is inspected, with which request, and what is started. */

import { expect, test } from "vitest";
import { readSchema } from "../../src/file/schema";
import {
  answerOf,
  begin,
  createJob,
  draft,
  FILE,
  inspect,
  pass,
  pick,
  READING,
  requests,
  SAMPLE,
  uploaded,
} from "./draft-world";

test("a file is described first, and then inspected for its import", async () => {
  begin();
  await pass();
  expect(requests()).toEqual([
    { fileGuid: "file", reading: {} },
    {
      fileGuid: "file",
      jobType: "import",
      reading: {},
      options: { dataset: "kunden-2026", key: "id", mode: "upsert", columns: {} },
    },
  ]);
  expect([draft.plan.isReady.value, draft.isStale.value, draft.waitsFor.value]).toEqual([true, false, null]);
});

test.each([
  ["Kunden 2026.csv.zip", "kunden-2026"],
  ["people.jsonl.gz", "people"],
  ["people.CSV.ZST", "people"],
  ["people.xlsx", "people"],
  ["people.zip", "people"],
  [".zip", "records"],
])("the dataset of the file %s is named %s", async (name, dataset) => {
  pick(new File(["id\n1\n"], name));
  expect(draft.plan.chosen.value.dataset).toBe(dataset);
});

test("a sample is inspected while the file is uploaded, and the file is started", async () => {
  let release = (_: { fileGuid: string }) => {};
  uploaded.mockImplementationOnce(async () => ({ fileGuid: "sample" }));
  uploaded.mockImplementationOnce(() => new Promise((resolve) => (release = resolve)));
  begin(SAMPLE);
  expect(draft.waitsFor.value).toBe("sample");
  await pass();
  expect(new Set(requests().map(({ fileGuid }) => fileGuid))).toEqual(new Set(["sample"]));
  const job = draft.start();
  await pass();
  expect([createJob.mock.calls.length, draft.stage.value]).toEqual([0, "waiting"]);
  release({ fileGuid: "file" });
  expect(await job).toEqual({ jobId: "0198" });
  expect(createJob).toHaveBeenCalledWith(expect.objectContaining({ fileGuid: "file", reading: READING }));
  expect(inspect).toHaveBeenCalledTimes(2);
});

test("without its sample, a file is inspected once it is uploaded", async () => {
  uploaded.mockRejectedValueOnce(new Error("made up"));
  begin(SAMPLE);
  await pass();
  expect(requests()[0]?.fileGuid).toBe("file");
  expect(uploaded.mock.calls.map(([file]) => file)).toEqual([SAMPLE, FILE]);
});

test("changes are sent together after a pause, and the last answer counts", async () => {
  begin();
  await pass();
  inspect.mockClear();
  draft.plan.choose({ mode: "insert" });
  draft.plan.choose({ mode: "delete" });
  draft.plan.leaveOut("Full name", true);
  expect([inspect.mock.calls.length, draft.isStale.value]).toEqual([0, true]);
  await pass();
  expect(requests().map(({ options }) => options)).toEqual([
    { dataset: "kunden-2026", key: "id", mode: "delete", columns: { "Full name": null } },
  ]);
});

test("the chosen dataset is inspected, once its name is valid", async () => {
  begin();
  await pass();
  inspect.mockClear();
  for (const dataset of ["", "an other", "x".repeat(65)]) draft.plan.choose({ dataset });
  await pass();
  expect(inspect).not.toHaveBeenCalled();
  draft.plan.choose({ dataset: "an_Other-1" });
  // An invalid name keeps the last valid one.
  draft.plan.choose({ dataset: "an_Other-1!" });
  await pass();
  expect(requests().map(({ options }) => options?.dataset)).toEqual(["an_Other-1"]);
  draft.plan.choose({ dataset: "another" });
  const job = draft.start();
  await pass();
  await job;
  expect(createJob.mock.calls[0]?.[0].options).toMatchObject({ dataset: "another" });
});

test("another reading is described anew, and keeps only choices for its columns", async () => {
  begin();
  await pass();
  draft.plan.choose({ key: "Full name" });
  draft.plan.answer("Full name", "dmy");
  await pass();
  inspect.mockClear().mockImplementation(answerOf(["Nr", "Name"]));
  draft.plan.read({ delimiter: ";" });
  await pass();
  expect(requests()).toEqual([
    { fileGuid: "file", reading: { delimiter: ";" } },
    {
      fileGuid: "file",
      jobType: "import",
      reading: { delimiter: ";" },
      options: { dataset: "kunden-2026", key: "Nr", mode: "upsert", columns: {} },
    },
  ]);
});

test("a schema maps columns, and answers are those of its properties", async () => {
  begin();
  await pass();
  const schema = readSchema("people.json", '{"properties": {"name": {"type": "string", "format": "date"}}}');
  draft.plan.choose({ schema });
  draft.plan.answer("Full name", "mdy");
  draft.plan.pivotYear.value = 1950;
  await pass();
  expect(requests().at(-1)?.options).toMatchObject({
    columns: { "Full name": "name" },
    notations: { name: { dateOrder: "mdy" } },
    pivotYear: 1950,
    schema: schema?.document,
  });
});

test.each([
  ["pivot_year_missing", [true, false]],
  ["time_zone_missing", [false, true]],
  ["file_empty", [false, false]],
])("the error %s asks for what it needs", async (code, expected) => {
  inspect.mockImplementation(async (...call) => ({
    ...(await answerOf(["id"])(...call)),
    error: { code, message: "made up" },
    request: null,
  }));
  begin();
  await pass();
  const { asksPivotYear, asksTimeZone, asks, isReady } = draft.plan;
  expect([asksPivotYear.value, asksTimeZone.value]).toEqual(expected);
  expect([asks.value, isReady.value]).toEqual([expected.includes(true), false]);
});

test("a date of two readings with a short year asks for its century, too", async () => {
  const readings = (["dmy", "mdy"] as const).map((notation) => ({ notation, value: "2004-05-06" }));
  inspect.mockImplementation(async (...call) => {
    const answer = await answerOf(["born"])(...call);
    const question = { cell: "5/6/04", readings };
    return {
      ...answer,
      columns: answer.columns.map((column) => ({ ...column, question, needsPivotYear: true })),
      error: { code: "ambiguous_column", message: "made up" },
      request: null,
    };
  });
  begin();
  await pass();
  draft.plan.choose({
    schema: readSchema("people.json", '{"properties": {"born": {"type": "string", "format": "date"}}}'),
  });
  await pass();
  expect([draft.plan.questions.value.length, draft.plan.asksPivotYear.value]).toEqual([1, true]);
});

test("a time zone is sent once the user has chosen it, and can be changed", async () => {
  const missing = { error: { code: "time_zone_missing", message: "made up" }, request: null };
  inspect.mockImplementation(async (fileGuid, request) => ({
    ...(await answerOf(["id", "at"])(fileGuid, request)),
    ...(request.jobType && !request.options?.timeZone && missing),
  }));
  begin();
  await pass();
  expect(requests().at(-1)?.options).not.toHaveProperty("timeZone");
  expect([draft.plan.asksTimeZone.value, draft.plan.isReady.value]).toEqual([true, false]);
  for (const zone of ["Europe/Paris", "Europe/Berlin"]) {
    draft.plan.timeZone.value = zone;
    await pass();
    expect(requests().at(-1)?.options).toMatchObject({ timeZone: zone });
    expect([draft.plan.asksTimeZone.value, draft.plan.isReady.value]).toEqual([true, true]);
  }
  const job = draft.start();
  await pass();
  await job;
  expect(createJob.mock.calls[0]?.[0].options).toMatchObject({ timeZone: "Europe/Berlin" });
});
