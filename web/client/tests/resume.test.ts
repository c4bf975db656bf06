import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProblemError } from "../src/index.js";
import { type Progress, type ResumeState, type UploadOptions, upload } from "../src/upload/index.js";
import { progressMeter } from "../src/upload/options.js";
import { Clock, skipSleeps } from "./clock.js";
import { bodies, completions, file, interruptedUpload, PARTS, putAll, puts, text } from "./large-file.js";
import { problem } from "./messages.js";
import { TestServer, until } from "./server.js";
import { sha256 } from "./uploads.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  skipSleeps();
});

afterEach(() => server.stop());

test("resumes after an abort without repeating received parts", async () => {
  const state = await interruptedUpload(server);
  const before = puts(server).length;
  expect(before).toBeLessThan(3);
  const progress: Progress[] = [];
  const resume = JSON.parse(JSON.stringify(state));
  const { fileGuid } = await upload(server.client, file, {
    resume,
    onProgress: (step) => progress.push(step),
  });
  expect(fileGuid).toBe(state.fileGuid);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(puts(server)).toHaveLength(3);
  expect(server.uploads.all.size).toBe(1);
  expect(progress[0]?.sentBytes).toBeGreaterThanOrEqual(223);
});

test("retries server errors when it resumes", async () => {
  const state = await interruptedUpload(server);
  server.script(`GET /api/uploads/${state.fileGuid}`, problem(500, "internal"));
  await upload(server.client, file, { resume: state });
  expect(server.uploads.contentOf(state.fileGuid)).toBe(text);
});

test("repeats received parts of another length or content", async () => {
  const { fileGuid, ...rest } = await interruptedUpload(server);
  const parts = server.uploads.all.get(fileGuid)?.parts;
  parts?.set(1, Buffer.from("x".repeat(400)));
  parts?.set(2, Buffer.from(PARTS[1]?.slice(1) ?? ""));
  parts?.set(3, Buffer.from(PARTS[2] ?? ""));
  const before = puts(server).length;
  await upload(server.client, file, { resume: { fileGuid, ...rest } });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(puts(server)).toHaveLength(before + 2);
});

test("repeats received parts without a checksum", async () => {
  const { fileGuid, ...rest } = await interruptedUpload(server);
  putAll(server, fileGuid);
  const receivedParts = PARTS.map((part, index) => ({
    partNumber: index + 1,
    size: part.length,
    ...(index !== 1 && { sha256: sha256(Buffer.from(part)) }),
  }));
  const status = { fileGuid, size: 1_023, state: "waiting", partSize: 400, receivedParts };
  server.script(`GET /api/uploads/${fileGuid}`, { status: 200, body: status });
  const before = puts(server).length;
  await upload(server.client, file, { resume: { fileGuid, ...rest } });
  expect(bodies(puts(server).slice(before))).toEqual([PARTS[1]]);
});

test("progress never decreases when a part starts again", () => {
  const reported: number[] = [];
  const onPartProgress = progressMeter(100, ({ sentBytes }) => reported.push(sentBytes));
  onPartProgress(1, 30);
  onPartProgress(2, 20);
  onPartProgress(1, 0);
  onPartProgress(1, 30);
  onPartProgress(1, 60);
  onPartProgress(2, 41);
  expect(reported).toEqual([30, 50, 80, 100]);
});

test("retries a completion with a lost reply", async () => {
  server.script("POST /api/uploads/*", "as-usual", "as-usual", "as-usual", "taken-and-cut");
  const { fileGuid } = await upload(server.client, file);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(completions(server)).toHaveLength(2);
});

test("repeats parts that are missing at the end, a limited number of times", async () => {
  const incomplete = problem(409, "upload-incomplete", { detail: "Part 2 is missing." });
  const begun: ResumeState[] = [];
  const losePart: UploadOptions["onBegun"] = (state) => {
    begun.push(state);
    server.script(`POST /api/uploads/${state.fileGuid}/complete`, incomplete);
  };
  const { fileGuid } = await upload(server.client, file, { onBegun: losePart });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(puts(server)).toHaveLength(3);

  const always: UploadOptions["onBegun"] = (state) =>
    server.script(`POST /api/uploads/${state.fileGuid}/complete`, ...Array(9).fill(incomplete));
  const error = await upload(server.client, file, { onBegun: always }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ kind: "upload-incomplete", detail: "Part 2 is missing." });
});

test("waits between rounds, longer each time and at least for Retry-After", async () => {
  const clock = new Clock();
  vi.spyOn(Math, "random").mockReturnValue(0);
  const replies = [problem(409, "upload-incomplete"), problem(409, "upload-incomplete", {}, 20)];
  const call = upload(server.client, file, {
    onBegun: ({ fileGuid }) => server.script(`POST /api/uploads/${fileGuid}/complete`, ...replies),
  });
  await clock.pass(499);
  expect(server.seen("GET /api/uploads/*")).toHaveLength(0);
  await clock.pass(1);
  await until(() => completions(server).length === 2);
  await clock.pass(19_999);
  expect(server.seen("GET /api/uploads/*")).toHaveLength(1);
  await clock.pass(1);
  await call;
  expect(completions(server)).toHaveLength(3);
});

test("waits for a completion by another call", async () => {
  let begun: ResumeState | undefined;
  const slow: typeof fetch = (...call) => {
    const { fileGuid = "" } = begun ?? {};
    putAll(server, fileGuid);
    server.uploads.beginCompletion(fileGuid, 12);
    return fetch(...call);
  };
  const { fileGuid } = await upload(server.client, file, {
    fetch: slow,
    partsAtOnce: 1,
    onBegun: (state) => (begun = state),
  });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(server.seen(`GET /api/uploads/${fileGuid}`)).toHaveLength(12);
  expect(completions(server)).toHaveLength(0);
  expect(puts(server)).toHaveLength(1);
});

test("does not wait forever for a completion by another call", async () => {
  const state = await interruptedUpload(server);
  server.uploads.beginCompletion(state.fileGuid, 1_000);
  const call = upload(server.client, file, { resume: state });
  await expect(call).rejects.toMatchObject({ kind: "upload-incomplete", retryAfter: 2 });
});

test("hashes each part once in all rounds, and retries a failed status request", async () => {
  const hash = vi.spyOn(crypto.subtle, "digest");
  await upload(server.client, file, {
    onBegun: ({ fileGuid }) => {
      const incomplete = Array(5).fill(problem(409, "upload-incomplete"));
      server.script(`POST /api/uploads/${fileGuid}/complete`, ...incomplete);
      server.script(`GET /api/uploads/${fileGuid}`, problem(500, "internal"));
    },
  });
  expect(hash).toHaveBeenCalledTimes(3);
  expect(completions(server)).toHaveLength(6);
});

test("an upload that another page has completed succeeds", async () => {
  const state = await interruptedUpload(server);
  putAll(server, state.fileGuid);
  const before = puts(server).length;
  const status = {
    fileGuid: state.fileGuid,
    size: 1_023,
    state: "waiting",
    partSize: 400,
    receivedParts: [],
  };
  server.script(`GET /api/uploads/${state.fileGuid}`, { status: 200, body: status });
  await server.client.send({
    method: "POST",
    path: `/api/uploads/${state.fileGuid}/complete`,
    repeatable: false,
  });
  await upload(server.client, file, { resume: state });
  expect(puts(server)).toHaveLength(before);
});

test("keeps only the parts in flight in memory, never the file", async () => {
  server.uploads.partSize = 100;
  const sizes: number[] = [];
  let now = 0;
  let most = 0;
  const read = Blob.prototype.arrayBuffer;
  vi.spyOn(Blob.prototype, "arrayBuffer").mockImplementation(async function (this: Blob) {
    sizes.push(this.size);
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    return read.call(this);
  });
  await upload(server.client, file, { partsAtOnce: 2 });
  expect(most).toBe(2);
  expect(sizes).toHaveLength(11);
  expect(Math.max(...sizes)).toBe(100);
});
