import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NetworkError, ProblemError } from "../src/index.js";
import { OtherFileError, type Progress, type ResumeState, UploadError, upload } from "../src/upload/index.js";
import { shortenTimeouts, skipSleeps } from "./clock.js";
import { problem, refusal } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  skipSleeps();
});

afterEach(() => server.stop());

const CREATE = "POST /api/uploads";
const text = "email,name\nann@example.com,Ann\n";
const file = new File([text], "people.csv", { type: "text/csv", lastModified: 1_700_000_000_000 });

test("uploads a file in one PUT with the signed headers", async () => {
  const progress: Progress[] = [];
  const begun: ResumeState[] = [];
  const { fileGuid } = await upload(server.client, file, {
    onProgress: (step) => progress.push(step),
    onBegun: (state) => begun.push(state),
  });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(JSON.parse(String(server.seen(CREATE)[0]?.body))).toEqual({
    fileName: "people.csv",
    contentType: "text/csv",
    size: text.length,
  });
  expect(progress).toEqual([{ sentBytes: text.length, totalBytes: text.length }]);
  expect(begun).toEqual([
    { fileGuid, fileName: "people.csv", size: text.length, lastModified: 1_700_000_000_000 },
  ]);
  expect(server.requests).toHaveLength(2);
});

test("detects JSON Lines by the name; a Blob needs a name", async () => {
  const blob = new Blob(['{"a":1}\n']);
  await upload(server.client, blob, { fileName: "people.jsonl" });
  await upload(server.client, blob, { fileName: "people.csv" });
  await upload(server.client, blob, {
    fileName: "people.csv",
    contentType: "text/x-mine",
    sha256: "0".repeat(64),
  });
  const requests = server.seen(CREATE).map(({ body }) => JSON.parse(String(body)));
  expect(requests.map(({ contentType }) => contentType)).toEqual([
    "application/x-ndjson",
    "text/csv",
    "text/x-mine",
  ]);
  expect(requests[2].sha256).toBe("0".repeat(64));
  await expect(upload(server.client, blob)).rejects.toThrow(TypeError);
});

test("requests a new URL after an expired one", async () => {
  const { fileGuid } = await upload(server.client, file, { onBegun: () => server.uploads.signed.clear() });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(server.seen("PUT /s3/*")).toHaveLength(2);
  expect(server.seen(`POST /api/uploads/${fileGuid}/url`)).toHaveLength(1);
});

test("a PUT with a lost reply succeeds if the API has the file", async () => {
  server.script("PUT /s3/*", "taken-and-cut");
  const { fileGuid } = await upload(server.client, file);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(server.seen("PUT /s3/*")).toHaveLength(1);
});

test("a PUT with a lost reply succeeds if S3 refuses the next with 412", async () => {
  server.script("PUT /s3/*", "taken-and-cut", refusal(412, "PreconditionFailed"));
  const ticket = {
    method: "PUT",
    url: `${server.url}/s3/again`,
    headers: {},
    expiresAt: "2030-01-01T00:00:00Z",
  };
  server.script("POST /api/uploads/*", { status: 200, body: ticket });
  const { fileGuid } = await upload(server.client, file);
  expect(server.seen(`GET /api/uploads/${fileGuid}`)).toHaveLength(1);
});

test("a 412 without a received file is a failure", async () => {
  server.script("PUT /s3/*", ...Array(10).fill(refusal(412, "PreconditionFailed")));
  await expect(upload(server.client, file)).rejects.toThrow("S3 answered 412 PreconditionFailed");
});

test("retries refusals and lost connections a limited number of times", async () => {
  server.script("PUT /s3/*", "cut", refusal(503, "SlowDown"), refusal(400, "BadDigest"));
  const { fileGuid } = await upload(server.client, file);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);

  server.script("PUT /s3/*", ...Array(6).fill(refusal(500, "InternalError")));
  const error = await upload(server.client, file).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(UploadError);
  expect(error).toMatchObject({ status: 500, code: "InternalError" });
  expect(server.seen("PUT /s3/*")).toHaveLength(4 + 6);
});

test("an upload that the API refuses rejects with the problem", async () => {
  server.script(CREATE, problem(429, "upload-quota-exceeded", {}, 3_600));
  const error = await upload(server.client, file).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ kind: "upload-quota-exceeded", retryAfter: 3_600 });
});

test("an upload aborted during its PUT can be resumed", async () => {
  server.script("PUT /s3/*", "silent");
  const abort = new AbortController();
  let state: ResumeState | undefined;
  const call = upload(server.client, file, { signal: abort.signal, onBegun: (begun) => (state = begun) });
  call.catch(() => undefined);
  await vi.waitUntil(() => server.seen("PUT /s3/*").length === 1);
  abort.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");

  const stored = JSON.parse(JSON.stringify(state));
  const { fileGuid } = await upload(server.client, file, { resume: stored });
  expect(fileGuid).toBe(stored.fileGuid);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(server.seen(CREATE)).toHaveLength(1);

  const progress: Progress[] = [];
  await upload(server.client, file, { resume: stored, onProgress: (step) => progress.push(step) });
  expect(progress).toEqual([{ sentBytes: text.length, totalBytes: text.length }]);
  expect(server.seen("PUT /s3/*")).toHaveLength(2);
});

test("does not resume with another file", async () => {
  const state = { fileGuid: "f", fileName: "people.csv", size: file.size, lastModified: file.lastModified };
  const others = [
    new File([`${text}more`], "people.csv", { lastModified: file.lastModified }),
    new File([text], "others.csv", { lastModified: file.lastModified }),
    new File([text], "people.csv", { lastModified: file.lastModified + 1 }),
  ];
  for (const other of others) {
    await expect(upload(server.client, other, { resume: state })).rejects.toBeInstanceOf(OtherFileError);
  }
  expect(server.requests).toHaveLength(0);

  server.script("GET /api/uploads/f", { status: 200, body: { state: "waiting", size: file.size + 1 } });
  await expect(upload(server.client, file, { resume: state })).rejects.toBeInstanceOf(OtherFileError);
});

test("aborts and repeats an unanswered PUT after a time that depends on its size", async () => {
  shortenTimeouts();
  server.script("PUT /s3/*", "silent");
  const { fileGuid } = await upload(server.client, file);
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(server.seen("PUT /s3/*")).toHaveLength(2);
});

test("a lost reply to the creation makes one upload only", async () => {
  server.script(CREATE, "taken-and-cut");
  await upload(server.client, file);
  expect(server.uploads.all.size).toBe(1);
});

test("time without a network does not count as attempts", async () => {
  const place = { onLine: false };
  const tab = new EventTarget();
  vi.stubGlobal("navigator", place);
  vi.stubGlobal("addEventListener", tab.addEventListener.bind(tab));
  server.script("PUT /s3/*", ...Array(20).fill("cut"));
  const call = upload(server.client, file);
  await vi.waitUntil(() => server.seen("PUT /s3/*").length === 1);
  place.onLine = true;
  await expect(call).rejects.toBeInstanceOf(NetworkError);
  expect(server.seen("PUT /s3/*")).toHaveLength(7);
});
