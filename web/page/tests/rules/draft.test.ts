/** An import in preparation: which upload is inspected, with which request, and what is started. */

import type { Inspection, InspectRequest } from "longshore-client";
import { ProblemError } from "longshore-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readSchema } from "../../src/file/schema";

const inspect = vi.fn<(fileGuid: string, request: InspectRequest) => Promise<Partial<Inspection>>>();
const createJob = vi.fn();
const uploaded = vi.fn<(file: File) => Promise<{ fileGuid: string }>>();
vi.mock("../../src/api", () => ({
  api: {
    inspect: (fileGuid: string, request: InspectRequest) => inspect(fileGuid, request),
    createJob: (request: unknown) => createJob(request),
  },
  guarded: (call: () => unknown) => call(),
}));
vi.mock("longshore-client/upload", () => ({
  upload: (_: unknown, file: File) => uploaded(file),
  OtherFileError: class extends Error {},
}));
vi.mock("../../src/session", () => ({ sessionState: { value: "signed-in" } }));
vi.stubGlobal("location", { pathname: "/" });
const online: (() => void)[] = [];
vi.stubGlobal("addEventListener", (name: string, listener: () => void) => {
  if (name === "online") online.push(listener);
});
vi.stubGlobal("removeEventListener", () => {});
vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { Draft } = await import("../../src/draft");

const READING = { encoding: "UTF-8", delimiter: ",", quote: '"', headerRow: 1 } as const;

/** The answer of a server for a file with these columns, and the presets of datasets. */
function answerOf(columns: string[], presets: Record<string, Inspection["preset"]> = {}) {
  return async (fileGuid: string, { jobType, options, reading }: InspectRequest) => ({
    format: "csv" as const,
    reading: READING,
    columns: columns.map((name) => ({
      name,
      type: "text" as const,
      notation: null,
      question: null,
      needsPivotYear: false,
    })),
    rows: [{ number: 1, sheetRow: null, cells: columns.map((_, at) => String(at)), problem: null }],
    issues: [],
    error: null,
    preset: presets[String(options?.dataset)] ?? null,
    request: jobType ? { jobType, fileGuid, reading: { ...READING, ...reading }, options } : null,
  });
}

let draft: InstanceType<typeof Draft>;

beforeEach(() => {
  vi.useFakeTimers();
  inspect.mockReset().mockImplementation(answerOf(["id", "Full name"]));
  createJob.mockReset().mockResolvedValue({ jobId: "0198" });
  uploaded.mockReset().mockImplementation(async ({ size }) => ({ fileGuid: size > 9 ? "file" : "sample" }));
  online.length = 0;
});

afterEach(() => {
  draft.close();
  vi.useRealTimers();
});

const FILE = new File(["id,Full name\n1,Ann\n"], "Kunden 2026.csv");
const SAMPLE = new File(["id\n1\n"], "Kunden 2026.csv");

function begin(sample: File | null = null): void {
  draft = new Draft(FILE, sample);
  draft.send();
}

/** Lets answers arrive, and changes of the user be sent. */
const pass = () => vi.advanceTimersByTimeAsync(1_000);
const requests = () => inspect.mock.calls.map(([fileGuid, request]) => ({ fileGuid, ...request }));

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
  draft = new Draft(new File(["id\n1\n"], name), null);
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

test("an import that would fail is not started", async () => {
  begin();
  await pass();
  const error = { code: "required_column_missing", message: "made up" };
  inspect.mockImplementation(async (...call) => ({
    ...(await answerOf(["id"])(...call)),
    error,
    request: null,
  }));
  draft.plan.choose({ mode: "update" });
  const job = draft.start();
  await pass();
  expect([await job, draft.stage.value, draft.plan.isReady.value]).toEqual([null, "none", false]);
  expect(createJob).not.toHaveBeenCalled();
});

const problem = (status: number, kind: string, retryAfter: number | null) =>
  new ProblemError(status, { type: `/api/problems/${kind}` }, retryAfter);

test("a busy server is asked again when it says so", async () => {
  inspect.mockRejectedValueOnce(problem(429, "rate-limited", 7));
  begin();
  await pass();
  expect([draft.inspector.error.value, draft.waitsFor.value]).toEqual([expect.any(ProblemError), null]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(inspect).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([draft.inspector.error.value, draft.plan.isReady.value]).toEqual([null, true]);
});

test("after a lost network, the file is inspected when it returns", async () => {
  inspect.mockRejectedValueOnce(new Error("no network"));
  begin();
  await pass();
  expect(draft.inspector.error.value).toBeInstanceOf(Error);
  for (const listener of online) listener();
  await pass();
  expect([draft.inspector.error.value, draft.plan.isReady.value]).toEqual([null, true]);
});

test("an upload that no longer exists is replaced by the file, or sent again", async () => {
  begin(SAMPLE);
  await pass();
  inspect.mockRejectedValueOnce(problem(404, "not-found", null));
  draft.plan.choose({ mode: "insert" });
  await pass();
  draft.inspectAgain();
  await pass();
  expect(requests().at(-1)?.fileGuid).toBe("file");
  inspect.mockRejectedValueOnce(problem(404, "not-found", null));
  draft.plan.choose({ mode: "update" });
  await pass();
  uploaded.mockResolvedValueOnce({ fileGuid: "again" });
  draft.inspectAgain();
  await pass();
  expect([requests().at(-1)?.fileGuid, draft.plan.isReady.value]).toEqual(["again", true]);
});

test("JSON Lines without an object have no key, and their problems are found anyway", async () => {
  inspect.mockImplementation(async (_, { jobType }) => ({
    format: "jsonl",
    reading: null,
    columns: [],
    rows: [
      {
        number: 1,
        sheetRow: null,
        cells: ["no"],
        problem: jobType ? { code: "malformed_json", field: null, message: "" } : null,
      },
    ],
    issues: [],
    error: null,
    preset: null,
    request: jobType ? {} : null,
  }));
  begin();
  await pass();
  expect(draft.plan.table.value.rows[0]).toMatchObject({ line: "no", problem: { code: "malformed_json" } });
  expect([draft.plan.keyColumn.value, draft.plan.isReady.value]).toEqual(["", false]);
});
