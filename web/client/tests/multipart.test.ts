import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, ProblemError } from "../src/index.js";
import {
  type Progress,
  type ResumeState,
  UploadError,
  type UploadOptions,
  upload,
} from "../src/upload/index.js";
import { progressMeter } from "../src/upload/progress-meter.js";
import { Clock, skipSleeps } from "./clock.js";
import { problem, type Request, refusal } from "./messages.js";
import { TestServer, until } from "./server.js";
import { sha256 } from "./uploads.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  skipSleeps();
});

afterEach(() => server.stop());

/** Larger than the test server's limit for a single PUT: three parts, of 400, 400 and 223 bytes. */
const text = Array.from({ length: 1_023 }, (_, index) => String.fromCharCode(97 + (index % 26))).join("");
const file = new File([text], "many.csv", { type: "text/csv", lastModified: 1_700_000_000_000 });
const PARTS = [text.slice(0, 400), text.slice(400, 800), text.slice(800)];

const puts = () => server.seen("PUT /s3/*");
const bodies = (requests: Request[]) => requests.map(({ body }) => String(body)).sort();
const completions = () => server.seen("POST /api/uploads/*").filter(({ path }) => path.endsWith("/complete"));

/** Adds all parts to S3, as if another page had sent them. */
function putAll(fileGuid: string): void {
  const parts = server.uploads.all.get(fileGuid)?.parts;
  for (const [index, part] of PARTS.entries()) parts?.set(index + 1, Buffer.from(part));
}

/** Starts an upload, aborts it after its first part, and returns its resumable state. */
async function interruptedUpload(options: UploadOptions = {}): Promise<ResumeState> {
  const abort = new AbortController();
  let state: ResumeState | undefined;
  const onBegun = (begun: ResumeState) => {
    state = begun;
  };
  const onProgress = () => abort.abort();
  const call = upload(server.client, file, {
    ...options,
    partsAtOnce: 1,
    signal: abort.signal,
    onBegun,
    onProgress,
  });
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
  if (!state) throw new Error("The upload was not created");
  return state;
}

test("uploads a large file in parts, each with its SHA-256, and completes it", async () => {
  const progress: Progress[] = [];
  const { fileGuid } = await upload(server.client, file, { onProgress: (step) => progress.push(step) });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(bodies(puts())).toEqual([...PARTS].sort());
  for (const { body, headers } of puts()) expect(headers["x-amz-checksum-sha256"]).toBe(sha256(body));
  expect(completions()).toHaveLength(1);
  expect(progress).toHaveLength(3);
  expect(progress.at(-1)).toEqual({ sentBytes: 1_023, totalBytes: 1_023 });
});

test("sends at most partsAtOnce parts concurrently", async () => {
  server.uploads.partSize = 100;
  const mostAtOnce = async (expected: number, options: UploadOptions) => {
    let now = 0;
    let most = 0;
    const counting: typeof fetch = async (...call) => {
      most = Math.max(most, ++now);
      await until(() => most >= expected);
      const answer = await fetch(...call);
      now--;
      return answer;
    };
    await upload(server.client, file, { ...options, fetch: counting });
    return most;
  };
  expect(await mostAtOnce(2, { partsAtOnce: 2 })).toBe(2);
  expect(await mostAtOnce(3, {})).toBe(3);
});

test("repeats only a failed part, with a new URL", async () => {
  server.script("PUT /s3/*", refusal(403, "AccessDenied"), "cut", refusal(500, "InternalError"));
  const progress: number[] = [];
  const { fileGuid } = await upload(server.client, file, {
    onProgress: ({ sentBytes }) => progress.push(sentBytes),
  });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(puts()).toHaveLength(6);
  expect(new Set(puts().map(({ path }) => path)).size).toBe(6);
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
});

test("fails after repeated refusals by S3, and can be resumed", async () => {
  server.script("PUT /s3/*", ...Array(6).fill(refusal(403, "AccessDenied")));
  let state: ResumeState | undefined;
  const options: UploadOptions = { partsAtOnce: 1, onBegun: (begun) => (state = begun) };
  const error = await upload(server.client, file, options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(UploadError);
  expect(error.status).toBe(403);
  expect(completions()).toHaveLength(0);
  const { fileGuid } = await upload(server.client, file, { resume: state });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
});

test("a permanent failure of one part stops the others", async () => {
  // 103 parts.
  server.uploads.partSize = 10;
  server.script("POST /api/uploads/*", "as-usual", problem(409, "upload-abandoned"));
  await expect(upload(server.client, file)).rejects.toMatchObject({ kind: "upload-abandoned" });
  expect(puts().length).toBeLessThan(10);
});

test("a permanent failure of one part aborts the URL requests of the others", async () => {
  server.uploads.partSize = 10;
  let silent = 0;
  server.script("POST /api/uploads/*", "as-usual", "silent", "silent", problem(409, "upload-abandoned"));
  const counting: typeof fetch = (url, init) => {
    init?.signal?.addEventListener("abort", () => silent++);
    return fetch(url, init);
  };
  const client = createClient({ baseUrl: server.url, fetch: counting });
  await expect(upload(client, file)).rejects.toMatchObject({ kind: "upload-abandoned" });
  expect(silent).toBe(2);
});

test("retries server errors, including those that the API reports itself", async () => {
  const fault = problem(500, "internal");
  server.script("POST /api/uploads/*", fault, fault, problem(503, "busy"));
  const { fileGuid } = await upload(server.client, file);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(server.seen(`POST /api/uploads/${fileGuid}/url`)).toHaveLength(6);
});

test("does not retry an exhausted daily upload quota", async () => {
  server.script("POST /api/uploads/*", ...Array(9).fill(problem(429, "upload-quota-exceeded")));
  const error = await upload(server.client, file, { partsAtOnce: 1 }).catch((thrown) => thrown);
  expect(error).toMatchObject({ kind: "upload-quota-exceeded" });
  expect(server.requests).toHaveLength(2);
});

test("a part counts as sent if another page has completed the upload", async () => {
  let begun: ResumeState | undefined;
  const slow: typeof fetch = async (...call) => {
    const { fileGuid = "" } = begun ?? {};
    putAll(fileGuid);
    const path = `/api/uploads/${fileGuid}/complete`;
    await server.client.send({ method: "POST", path, repeatable: false });
    return fetch(...call);
  };
  const progress: Progress[] = [];
  const { fileGuid } = await upload(server.client, file, {
    fetch: slow,
    onBegun: (state) => (begun = state),
    onProgress: (step) => progress.push(step),
  });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(puts().length).toBeLessThanOrEqual(3);
  expect(progress.at(-1)).toEqual({ sentBytes: 1_023, totalBytes: 1_023 });
});

test("a part of an abandoned upload fails with that problem", async () => {
  let begun: ResumeState | undefined;
  const slow: typeof fetch = (...call) => {
    server.uploads.abandon(begun?.fileGuid ?? "");
    return fetch(...call);
  };
  const call = upload(server.client, file, { fetch: slow, onBegun: (state) => (begun = state) });
  await expect(call).rejects.toMatchObject({ name: "ProblemError", kind: "upload-abandoned" });
  expect(puts().length).toBeLessThanOrEqual(3);
});

test("an abandoned upload is not resumed and throws its problem at once", async () => {
  const state = await interruptedUpload();
  server.uploads.abandon(state.fileGuid);
  const before = server.requests.length;
  const hash = vi.spyOn(crypto.subtle, "digest");
  const call = upload(server.client, file, { resume: state });
  await expect(call).rejects.toMatchObject({ name: "ProblemError", kind: "upload-abandoned" });
  expect(hash).not.toHaveBeenCalled();
  expect(server.requests).toHaveLength(before + 2);
});

test("partsAtOnce of 0 still sends one part at a time", async () => {
  const { fileGuid } = await upload(server.client, file, { partsAtOnce: 0 });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
});

test("resumes after an abort without repeating received parts", async () => {
  const state = await interruptedUpload();
  const before = puts().length;
  expect(before).toBeLessThan(3);
  const progress: Progress[] = [];
  const resume = JSON.parse(JSON.stringify(state));
  const { fileGuid } = await upload(server.client, file, {
    resume,
    onProgress: (step) => progress.push(step),
  });
  expect(fileGuid).toBe(state.fileGuid);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(puts()).toHaveLength(3);
  expect(server.uploads.all.size).toBe(1);
  expect(progress[0]?.sentBytes).toBeGreaterThanOrEqual(223);
});

test("retries server errors when it resumes", async () => {
  const state = await interruptedUpload();
  server.script(`GET /api/uploads/${state.fileGuid}`, problem(500, "internal"));
  await upload(server.client, file, { resume: state });
  expect(server.uploads.contentOf(state.fileGuid)).toBe(text);
});

test("repeats received parts of another length or content", async () => {
  const { fileGuid, ...rest } = await interruptedUpload();
  const parts = server.uploads.all.get(fileGuid)?.parts;
  parts?.set(1, Buffer.from("x".repeat(400)));
  parts?.set(2, Buffer.from(PARTS[1]?.slice(1) ?? ""));
  parts?.set(3, Buffer.from(PARTS[2] ?? ""));
  const before = puts().length;
  await upload(server.client, file, { resume: { fileGuid, ...rest } });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(puts()).toHaveLength(before + 2);
});

test("repeats received parts without a checksum", async () => {
  const { fileGuid, ...rest } = await interruptedUpload();
  putAll(fileGuid);
  const receivedParts = PARTS.map((part, index) => ({
    partNumber: index + 1,
    size: part.length,
    ...(index !== 1 && { sha256: sha256(Buffer.from(part)) }),
  }));
  const status = { fileGuid, size: 1_023, state: "waiting", partSize: 400, receivedParts };
  server.script(`GET /api/uploads/${fileGuid}`, { status: 200, body: status });
  const before = puts().length;
  await upload(server.client, file, { resume: { fileGuid, ...rest } });
  expect(bodies(puts().slice(before))).toEqual([PARTS[1]]);
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
  expect(completions()).toHaveLength(2);
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
  expect(puts()).toHaveLength(3);

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
  await until(() => completions().length === 2);
  await clock.pass(19_999);
  expect(server.seen("GET /api/uploads/*")).toHaveLength(1);
  await clock.pass(1);
  await call;
  expect(completions()).toHaveLength(3);
});

test("waits for a completion by another call", async () => {
  let begun: ResumeState | undefined;
  const slow: typeof fetch = (...call) => {
    const { fileGuid = "" } = begun ?? {};
    putAll(fileGuid);
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
  expect(completions()).toHaveLength(0);
  expect(puts()).toHaveLength(1);
});

test("does not wait forever for a completion by another call", async () => {
  const state = await interruptedUpload();
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
  expect(completions()).toHaveLength(6);
});

test("an upload that another page has completed succeeds", async () => {
  const state = await interruptedUpload();
  putAll(state.fileGuid);
  const before = puts().length;
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
  expect(puts()).toHaveLength(before);
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
