/** A run of a job type: pasted items, its request, and what is done again after a refusal. */

import type { JobType } from "longshore-client";
import { ProblemError } from "longshore-client";
import { beforeEach, expect, test, vi } from "vitest";
import { guessFormat, pastedFile, pastedProblem } from "../../src/run/pasted";

const createJob = vi.fn();
const uploaded = vi.fn();
vi.mock("../../src/api", () => ({
  api: { createJob: (...args: unknown[]) => createJob(...args) },
  guarded: (call: () => unknown) => call(),
}));
vi.mock("longshore-client/upload", () => ({
  upload: (_: unknown, file: File) => uploaded(file),
  OtherFileError: class extends Error {},
}));
vi.mock("../../src/session", () => ({ sessionState: { value: "signed-in" } }));
vi.stubGlobal("location", { pathname: "/" });
vi.stubGlobal("addEventListener", () => {});
vi.stubGlobal("removeEventListener", () => {});
vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { Run } = await import("../../src/run/run");

const OPTIONS = { type: "object", required: ["event"], properties: { event: { type: "string" } } };
const type = (change: Partial<JobType> = {}): JobType => ({
  name: "invite",
  description: null,
  input: "file",
  optionsSchema: OPTIONS,
  itemSchema: null,
  outputSchema: null,
  itemsPerSecond: null,
  status: "active",
  batch: { items: 100, bytes: 1_048_576, timeoutSeconds: 30 },
  concurrency: 10,
  tries: 5,
  maxOutageSeconds: 21_600,
  modes: ["run"],
  updatedAt: "2026-07-01T09:00:00Z",
  candidate: null,
  ...change,
});

beforeEach(() => {
  createJob.mockReset().mockResolvedValue({ jobId: "0198" });
  uploaded.mockReset().mockResolvedValue({ fileGuid: "guid" });
});

function refusal(pointer: string, code: string): ProblemError {
  const problem = { type: "/api/problems/invalid-request", errors: [{ pointer, code, detail: "made up" }] };
  return new ProblemError(422, problem, null);
}

test.each([
  ['{"a":1}\n{"a":2}', "json-lines", null],
  ['\n "https://example.com/a.png"\n', "json-lines", null],
  ["17", "json-lines", null],
  ["email,name\nann@example.com,Ann", "csv", null],
  ["email\n", "csv", { kind: "no-rows" }],
  [" \n\n", "csv", { kind: "empty" }],
  ['{"a":1}\n\n{"a":', "json-lines", { kind: "not-json", line: 3 }],
])("the pasted text %j is %s", (text, format, problem) => {
  expect(guessFormat(text)).toBe(format);
  expect(pastedProblem(text, guessFormat(text))).toEqual(problem);
});

test("a pasted text is uploaded byte by byte, under the name of its format", async () => {
  const text = '{"id":12345678901234567890}';
  const file = pastedFile(text, "json-lines");
  expect([file.name, await file.text()]).toEqual(["pasted.jsonl", text]);
  expect(pastedFile("a\n1", "csv").name).toBe("pasted.csv");
});

test("a run without an option or without items sends nothing", async () => {
  const run = new Run(type());
  expect(await run.start()).toBeNull();
  expect([...run.problems.value]).toEqual([["event", { kind: "missing" }]]);
  run.set("event", "launch");
  expect([await run.start(), run.itemsProblem()]).toEqual([null, "no-file"]);
  run.from.value = "text";
  run.pasted.value = "{";
  expect(await run.start()).toBeNull();
  expect([uploaded.mock.calls.length, createJob.mock.calls.length]).toEqual([0, 0]);
});

test("a pasted text is uploaded once, however often the start is refused", async () => {
  createJob.mockRejectedValueOnce(refusal("/options/event", "invalid_option"));
  const run = new Run(type());
  run.set("event", "lunch");
  run.from.value = "text";
  run.pasted.value = '{"email":"ann@example.com"}';
  expect(await run.start()).toBeNull();
  expect(run.placed.value.fields.get("event")).toMatchObject([{ code: "invalid_option" }]);
  expect(run.stage.value).toBe("none");
  run.set("event", "launch");
  expect(await run.start()).toMatchObject({ jobId: "0198" });
  expect(run.placed.value.fields.size).toBe(0);
  expect(uploaded).toHaveBeenCalledTimes(1);
  const [first, second] = createJob.mock.calls;
  expect(second?.[0]).toEqual({ jobType: "invite", fileGuid: "guid", options: { event: "launch" } });
  expect(second?.[1].idempotencyKey).not.toBe(first?.[1].idempotencyKey);
});

test("the same request has the same idempotency key", async () => {
  createJob.mockRejectedValueOnce(new Error("No answer"));
  const run = new Run(type({ input: "dataset", optionsSchema: null }));
  run.dataset.value = " people ";
  expect([await run.start(), (run.error.value as Error).message]).toEqual([null, "No answer"]);
  expect(await run.start()).not.toBeNull();
  const keys = createJob.mock.calls.map(([, { idempotencyKey }]) => idempotencyKey);
  expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  expect(createJob.mock.calls[0]?.[0]).toEqual({
    jobType: "invite",
    source: { dataset: "people" },
    options: {},
  });
});

test("a file that the server no longer knows is uploaded again", async () => {
  createJob.mockRejectedValueOnce(refusal("/fileGuid", "unknown_file"));
  const run = new Run(type({ optionsSchema: null }));
  run.from.value = "text";
  run.pasted.value = "1";
  expect(await run.start()).toBeNull();
  expect(run.placed.value.items).toMatchObject([{ code: "unknown_file" }]);
  expect(await run.start()).not.toBeNull();
  expect(uploaded).toHaveBeenCalledTimes(2);
});

test("a failed upload is shown at the upload, and not a second time", async () => {
  uploaded.mockRejectedValueOnce(new Error("made up"));
  const run = new Run(type({ optionsSchema: null }));
  run.from.value = "text";
  run.pasted.value = "1";
  expect(await run.start()).toBeNull();
  expect([(run.upload.error.value as Error).message, run.error.value]).toEqual(["made up", null]);
  expect(await run.start()).not.toBeNull();
});

test("of two files picked in a row the last one counts, and a file of another kind is refused", async () => {
  const run = new Run(type());
  const [first, second] = [new File(["a\n1\n"], "first.csv"), new File(["b\n1\n"], "second.csv")];
  const bytes = await first.arrayBuffer();
  let answer = () => {};
  const slowly = new Promise<ArrayBuffer>((resolve) => {
    answer = () => resolve(bytes);
  });
  vi.spyOn(first, "slice").mockReturnValue({ arrayBuffer: () => slowly } as Blob);
  const picked = run.pick(first);
  await run.pick(second);
  answer();
  await picked;
  expect(run.upload.file.value?.name).toBe("second.csv");
  await run.pick(new File(["id\n"], "people.docx"));
  expect([run.file.value, run.refusal.value]).toEqual([null, expect.stringContaining("must end in .csv")]);
});

test("a picked file and a pasted text do not replace each other", async () => {
  createJob.mockRejectedValue(new Error("No answer"));
  const run = new Run(type({ optionsSchema: null }));
  await run.pick(new File(["a\n1\n"], "picked.csv"));
  run.from.value = "text";
  run.pasted.value = "1";
  await run.start();
  run.from.value = "file";
  expect(run.file.value?.name).toBe("picked.csv");
  await run.start();
  const names = uploaded.mock.calls.map(([file]) => file.name);
  expect(names).toEqual(["picked.csv", "pasted.jsonl", "picked.csv"]);
});

test("options as text are sent as they are", async () => {
  const run = new Run(type({ input: "dataset", optionsSchema: { type: "object", allOf: [] } }));
  run.dataset.value = "people";
  run.json.value = "[]";
  expect([await run.start(), run.isJsonBad.value]).toEqual([null, true]);
  run.json.value = '{"nested":{"deep":[1]}}';
  await run.start();
  expect(createJob.mock.calls[0]?.[0].options).toEqual({ nested: { deep: [1] } });
});
