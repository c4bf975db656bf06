import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProblemError } from "../src/index.js";
import {
  type Progress,
  type ResumeState,
  UploadError,
  type UploadOptions,
  upload,
} from "../src/upload/index.js";
import { meter } from "../src/upload/meter.js";
import { skipPauses } from "./clock.js";
import { problem, type Request, TestServer } from "./server.js";
import { refusal, sha256 } from "./uploads.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  skipPauses();
});

afterEach(() => server.stop());

/** Above the limit of the server's single PUT: three parts, of 400, 400 and 223 bytes. */
const text = Array.from({ length: 1_023 }, (_, index) => String.fromCharCode(97 + (index % 26))).join("");
const file = new File([text], "many.csv", { type: "text/csv", lastModified: 1_700_000_000_000 });
const PARTS = [text.slice(0, 400), text.slice(400, 800), text.slice(800)];

const puts = () => server.seen("PUT /s3/*");
const bodies = (requests: Request[]) => requests.map(({ body }) => String(body)).sort();
const completions = () => server.seen("POST /api/uploads/*").filter(({ path }) => path.endsWith("/complete"));

/** Has S3 receive all parts, whoever sent them. */
function putAll(fileGuid: string): void {
  const parts = server.uploads.all.get(fileGuid)?.parts;
  for (const [index, part] of PARTS.entries()) parts?.set(index + 1, Buffer.from(part));
}

/** Begins an upload that is aborted once its first part is there, and gives what is kept of it. */
async function leftOff(options: UploadOptions = {}): Promise<ResumeState> {
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
  if (!state) throw new Error("It was not begun");
  return state;
}

test("a large file is put part by part, each with its SHA-256, and made a whole", async () => {
  const progress: Progress[] = [];
  const { fileGuid } = await upload(server.client, file, { onProgress: (step) => progress.push(step) });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(bodies(puts())).toEqual([...PARTS].sort());
  for (const { body, headers } of puts()) expect(headers["x-amz-checksum-sha256"]).toBe(sha256(body));
  expect(completions()).toHaveLength(1);
  expect(progress).toHaveLength(3);
  expect(progress.at(-1)).toEqual({ sentBytes: 1_023, totalBytes: 1_023 });
});

test("no more parts are sent at once than the caller says", async () => {
  server.uploads.partSize = 100;
  let now = 0;
  let most = 0;
  const counting: typeof fetch = async (...call) => {
    most = Math.max(most, ++now);
    const answer = await fetch(...call);
    now--;
    return answer;
  };
  await upload(server.client, file, { partsAtOnce: 2, fetch: counting });
  expect(most).toBe(2);
  await upload(server.client, file, { fetch: counting });
  expect(most).toBe(3);
});

test("a part that fails is sent again by a fresh URL, the others only once", async () => {
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

test("a part that S3 refuses again and again ends the upload, which can be resumed", async () => {
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

test("the first part that fails for good stops the others", async () => {
  // 103 parts.
  server.uploads.partSize = 10;
  server.script("PUT /s3/*", refusal(404, "NoSuchUpload"));
  await expect(upload(server.client, file)).rejects.toThrow("S3 answered 404 NoSuchUpload");
  expect(puts().length).toBeLessThan(10);
});

test("after an abort it is resumed: what S3 has is not sent again", async () => {
  const state = await leftOff();
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

test("what S3 has of another length or with other bytes is sent again", async () => {
  const { fileGuid, ...rest } = await leftOff();
  const parts = server.uploads.all.get(fileGuid)?.parts;
  parts?.set(1, Buffer.from("x".repeat(400)));
  parts?.set(2, Buffer.from(PARTS[1]?.slice(1) ?? ""));
  parts?.set(3, Buffer.from(PARTS[2] ?? ""));
  const before = puts().length;
  await upload(server.client, file, { resume: { fileGuid, ...rest } });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(puts()).toHaveLength(before + 2);
});

test("a checksum may be told in hexadecimal, or not at all", async () => {
  const { fileGuid, ...rest } = await leftOff();
  const received = PARTS.map((part, index) => {
    const hash =
      index === 0 ? { sha256: Buffer.from(sha256(Buffer.from(part)), "base64").toString("hex") } : {};
    return { partNumber: index + 1, size: part.length, ...hash };
  });
  putAll(fileGuid);
  const status = { fileGuid, size: 1_023, state: "waiting", partSize: 400, receivedParts: received };
  server.script(`GET /api/uploads/${fileGuid}`, { status: 200, body: status });
  const before = puts().length;
  await upload(server.client, file, { resume: { fileGuid, ...rest } });
  expect(puts()).toHaveLength(before);
});

test("without a checksum, what S3 has of another length is sent again", async () => {
  const { fileGuid, ...rest } = await leftOff();
  putAll(fileGuid);
  const receivedParts = PARTS.map((part, index) => ({
    partNumber: index + 1,
    size: part.length - (index % 2),
  }));
  const status = { fileGuid, size: 1_023, state: "waiting", partSize: 400, receivedParts };
  server.script(`GET /api/uploads/${fileGuid}`, { status: 200, body: status });
  const before = puts().length;
  await upload(server.client, file, { resume: { fileGuid, ...rest } });
  expect(bodies(puts().slice(before))).toEqual([PARTS[1]]);
});

test("progress never goes back: a part that begins again takes nothing of it", () => {
  const told: number[] = [];
  const note = meter(100, ({ sentBytes }) => told.push(sentBytes));
  note(1, 30);
  note(2, 20);
  note(1, 0);
  note(1, 30);
  note(1, 60);
  note(2, 41);
  expect(told).toEqual([30, 50, 80, 100]);
});

test("a completion whose reply is lost is repeated", async () => {
  server.script("POST /api/uploads/*", "as-usual", "as-usual", "as-usual", "taken-and-cut");
  const { fileGuid } = await upload(server.client, file);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(completions()).toHaveLength(2);
});

test("parts that are missing at the end are sent again, but not for ever", async () => {
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

test("an upload that another page has completed meanwhile is done", async () => {
  const state = await leftOff();
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

test("memory holds the parts that are on their way, never the file", async () => {
  const whole = vi.spyOn(File.prototype, "arrayBuffer");
  const read: number[] = [];
  const slice = Blob.prototype.arrayBuffer;
  vi.spyOn(Blob.prototype, "arrayBuffer").mockImplementation(function (this: Blob) {
    read.push(this.size);
    return slice.call(this);
  });
  await upload(server.client, file);
  expect(whole).not.toHaveBeenCalled();
  expect(read.filter((size) => size > 400)).toEqual([]);
});
