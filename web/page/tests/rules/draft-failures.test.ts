/** The failures of a draft: imports that would fail, busy servers, lost networks, and uploads that are gone. */

import { ProblemError } from "longshore-client";
import { expect, test, vi } from "vitest";
import {
  answerOf,
  begin,
  createJob,
  draft,
  inspect,
  online,
  pass,
  requests,
  SAMPLE,
  uploaded,
} from "./draft-world";

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
