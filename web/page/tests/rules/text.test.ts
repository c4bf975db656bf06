/** Texts, and the time left that is displayed. */

import { readFileSync } from "node:fs";
import type { Job, JobSource, Occurrence } from "longshore-client";
import { expect, test, vi } from "vitest";
import { undoState } from "../../src/components/status";
import { deletion } from "../../src/deletion";
import {
  apiMessage,
  failureReason,
  fieldReason,
  jobAnnouncement,
  jobMessage,
  jobName,
  jobProgress,
  jobSource,
  moment,
  occurrenceReason,
  text,
  timeLeft,
} from "../../src/text";
import { listed } from "../../src/text/format";
import { timeZones } from "../../src/time-zones";

type PreparedSource = Extract<JobSource, { kind: "file" }>["prepared"];

const UNKNOWN = Number.POSITIVE_INFINITY;

/** A job whose file is converted: 120 kB of 300 kB, the first tenth of its progress. */
const CONVERTING = {
  status: "running",
  stage: "splitting",
  percent: 4,
  itemCount: 0,
  itemProgress: 0,
  itemCountFinal: false,
  preparation: { readBytes: 120_000, sizeBytes: 300_000 },
} as Job;

const job = (status: Job["status"], stage: Job["stage"], percent = 0) =>
  jobMessage({ status, stage, percent } as Job);

test("a job's messages equal those of the API", () => {
  expect(job("waiting", "queued")).toBe("Waiting for job to start...");
  expect(job("running", "processing", 41)).toBe("Job running, 41% complete...");
  expect(job("running", "stopping", 41)).toBe("Job stopping, 41% complete...");
  expect(job("completed", "done", 100)).toBe("Job complete");
  expect(jobMessage(CONVERTING)).toBe("Converting the file, 4% complete...");
  expect(jobMessage({ ...CONVERTING, stage: "stopping" })).toBe("Job stopping, 4% complete...");
});

test("a conversion is shown in bytes, and afterwards the rows", () => {
  expect(jobProgress(CONVERTING)).toBe("120 kB of 300 kB converted");
  const counting = { ...CONVERTING, preparation: null, itemProgress: 5, itemCount: 1_200 };
  expect(jobProgress(counting)).toBe("5 of 1,200 counted so far");
  expect(jobProgress({ ...counting, itemCountFinal: true })).toBe("5 of 1,200");
});

test("each tenth of the conversion and of the progress is announced", () => {
  expect(jobAnnouncement(CONVERTING)).toBe("Converting the file, 40 percent converted");
  expect(jobAnnouncement({ ...CONVERTING, preparation: null, percent: 19 })).toBe("10 percent");
  expect(jobAnnouncement({ ...CONVERTING, status: "completed", preparation: null })).toBe("Job complete");
});

test("a job's source is the size of its file or the number of items in its request", () => {
  const of = (source: Job["source"], itemCountFinal = true, itemCount = 17) =>
    jobSource({ source, itemCount, itemCountFinal } as Job);
  expect(of({ kind: "file", name: "people.csv", sizeBytes: 4_200 })).toBe("4.2 kB");
  expect(of({ kind: "items", sizeBytes: 9 })).toBe("17 items in the request");
  expect(of({ kind: "items", sizeBytes: 9 }, true, 1)).toBe("1 item in the request");
  expect(of({ kind: "items", sizeBytes: 9 }, false)).toBe("Items in the request");
  expect(of(null)).toBeUndefined();
});

test("a converted file has its form, and the sheet or the file that was read", () => {
  const of = (prepared: PreparedSource) =>
    jobSource({ source: { kind: "file", name: "people", sizeBytes: 4_200, prepared } } as Job);
  expect(of({ form: "workbook", sheet: "Data 2024" })).toBe('4.2 kB · Workbook, sheet "Data 2024"');
  expect(of({ form: "zip", file: "out/people.csv" })).toBe("4.2 kB · out/people.csv in a ZIP archive");
  expect(of({ form: "gzip" })).toBe("4.2 kB · Compressed with gzip");
  expect(of({ form: "zstd" })).toBe("4.2 kB · Compressed with Zstandard");
  expect(of({ form: "utf16" })).toBe("4.2 kB");
});

test("a row of a workbook has its number and its row in the sheet", () => {
  const { exampleOf } = text.failures;
  expect(exampleOf({ number: 1_200, sheetRow: 1_204 }, "x")).toBe("Row 1,200 (row 1,204 in sheet): x");
  expect(exampleOf({ number: 3, sheetRow: null }, "")).toBe("Row 3");
});

test("a job over a dataset has the name of its dataset", () => {
  const of = (jobType: string, updatedSince: string | null = null) => {
    const source = { kind: "dataset", dataset: "people", updatedSince, nextSince: "2026-11-22T11:59:00Z" };
    return { jobType, source, fileName: null, jobId: "0198" } as Job;
  };
  expect(jobName(of("delete-dataset"))).toBe("Deletion of people");
  expect(jobName(of("export"))).toBe("Export of people");
  expect(jobName(of("welcome"))).toBe("welcome: people");
  expect(jobSource(of("welcome"))).toBeUndefined();
  expect(jobSource(of("welcome", "2026-11-01T00:00:00Z"))).toMatch(/^Records written since .*Nov/);
});

test("an undo has the name of its import", () => {
  const of = (preview: boolean, fileName: string | null = "people.csv") =>
    jobName({ undoes: { jobId: "0198c0de-0000", preview }, fileName, jobType: "undo", jobId: "0199" } as Job);
  expect(of(false)).toBe("Undo of people.csv");
  expect(of(true)).toBe("Preview of the undo of people.csv");
  expect(of(false, null)).toBe("Undo of e-0000");
});

test("a job over a part of another job names that part", () => {
  const of = (part: string) => jobSource({ source: { kind: "job", jobId: "0198-c0ffee", part } } as Job);
  expect(of("failed")).toBe("Failed items of job c0ffee");
  expect(of("results")).toBe("Results of job c0ffee");
});

test("the text of a deletion says what remains", () => {
  const of = (job: object, undo: string | null = null) =>
    deletion({ status: "completed", undoes: null, startedAs: null, links: { undo }, ...job } as Job);
  const files = "This deletes the job's files and its report.";
  expect(of({ jobType: "import" })).toBe(`${files} Imported records remain.`);
  expect(of({ jobType: "import" }, "/undo")).toContain("the import can no longer be undone.");
  expect(of({ jobType: "import", startedAs: "0198" })).toBe(files);
  expect(of({ jobType: "import", status: "running" })).toContain("The job is stopped.");
  expect(of({ jobType: "export" })).toBe(`${files} The records remain.`);
  expect(of({ jobType: "undo", undoes: { preview: false } })).toContain("stays undone.");
  expect(of({ jobType: "undo", undoes: { preview: true } })).toBe(files);
  expect(of({ jobType: "enrich" })).toBe(files);
});

test("the state of an undo is unknown if its job is not among those that were read", () => {
  const of = (...jobs: object[]) => undoState({ undoneBy: "0199" }, jobs as Job[]);
  expect(of({ jobId: "0198", status: "completed" })).toBe("unknown");
  expect(of({ jobId: "0199", status: "running" })).toBe("active");
  expect(of({ jobId: "0199", status: "completed" })).toBe("completed");
  expect(of({ jobId: "0199", status: "canceled" })).toBe("partly");
});

test("a failed row's reason depends on its code", () => {
  expect(failureReason({ code: "schema_type", field: "age" })).toBe('"age" has the wrong type:');
  expect(failureReason({ code: "schema_not", field: null })).toBe("The row does not match the schema:");
  expect(failureReason({ code: "of_a_team", field: "age" })).toBeUndefined();
});

test("a refused time zone has the page's words only for an import", () => {
  const of = (pointer: string, code: string) => fieldReason({ pointer, code, detail: "the API's words" });
  expect(of("/options/timeZone", "invalid_time_zone")).toMatch(/^The server does not know this time zone/);
  expect(of("/timeZone", "invalid_time_zone")).toBe("the API's words");
  expect(of("/options/key", "invalid_key")).toBe("Choose the key column.");
});

test.each([
  ["time_zone_missing", '"at" has a time without a time zone:'],
  ["ambiguous_time", '"at" has a time that the clock shows twice, when summer time ends:'],
  ["no_such_time", '"at" has a time that the clock skips, when summer time begins:'],
])("a row's failure %s has words", (code, words) => {
  expect(failureReason({ code, field: "at" })).toBe(words);
});

test("the zone of the computer is the first of all time zones, then UTC, and each is there once", () => {
  const own = vi.spyOn(Intl.DateTimeFormat.prototype, "resolvedOptions");
  own.mockReturnValue({ timeZone: "Europe/Berlin" } as Intl.ResolvedDateTimeFormatOptions);
  const zones = timeZones();
  own.mockRestore();
  expect(zones.slice(0, 3)).toEqual(["Europe/Berlin", "UTC", "Africa/Abidjan"]);
  expect(new Set(zones).size).toBe(zones.length);
});

test("a moment shows its year only if it is not the current year", () => {
  const now = new Date("2026-11-22T12:00:00");
  expect(moment("2026-11-22T14:08:00", now)).toMatch(/^Nov 22, 2:08\sPM$/);
  expect(moment("2025-11-22T14:08:00", now)).toMatch(/^Nov 22, 2025, 2:08\sPM$/);
});

test("index.html contains no text of its own", () => {
  const html = readFileSync(new URL("../../index.html", import.meta.url), "utf8");
  expect(html.replace(/<[^>]*>/g, "").match(/\w+/g)).toEqual(["app", "notices", "noScript"]);
});

test.each([
  ["the first estimate is shown", UNKNOWN, 90, 90, true],
  ["a lower estimate is shown at once", 90, 60, 60, true],
  ["a slightly higher estimate changes nothing", 60, 100, 60, true],
  ["a much higher estimate is unknown", 4, 3600, 4, false],
  ["zero with a long estimate is unknown", 0, 3600, 0, false],
  ["zero with a short estimate is a few seconds", 0, 10, 0, true],
  ["a negative estimate is zero", 3, -2, 0, true],
])("%s", (_, shown, rest, seconds, isKnown) => {
  expect(timeLeft(shown, rest)).toEqual({ seconds, isKnown });
});

test("the displayed time never increases", () => {
  let shown = UNKNOWN;
  for (const rest of [4, 3600, 1800, 30, 10, 3, 500]) {
    const next = timeLeft(shown, rest);
    expect(next.seconds).toBeLessThanOrEqual(shown);
    shown = next.seconds;
  }
});

test("an occurrence without a job has its reason, and refused options have the API's own sentence", () => {
  const of = (occurrence: Partial<Occurrence>) => occurrenceReason(occurrence as Occurrence);
  expect(of({ reason: "overlap" })).toBe("The job of an earlier occurrence was active.");
  expect(of({ code: "too_many_jobs", detail: "the limit" })).toBe("the limit");
  expect(of({ code: "options_refused", detail: "/options/team: team is required" })).toBe(
    "The job type no longer accepts the options of the job: /options/team: team is required",
  );
});

test("a sentence of the API has no byte offsets, and repeats no heading", () => {
  expect(apiMessage("The file is a PDF document, not text (detected at byte 0). Export it.")).toBe(
    "The file is a PDF document, not text. Export it.",
  );
  expect(apiMessage('columns without a property in the schema are imported as text: "city"')).toBe('"city"');
  expect(apiMessage('"age" has no value')).toBe('"age" has no value');
});

test("a workbook without rows below its header names its other sheets", () => {
  expect(text.preview.otherSheets(["Data", "Lists (hidden)"])).toBe(
    'The file has 2 more sheets: Data, Lists (hidden). Choose another one under "Change how the file is read".',
  );
});

test("only the first of many names are listed", () => {
  expect(listed(["id", "name"])).toBe("id, name");
  expect(listed(Array.from({ length: 23 }, (_, at) => `c${at}`))).toMatch(/^c0, .*, c19 and 3 more$/);
});
