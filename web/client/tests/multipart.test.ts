import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient } from "../src/index.js";
import {
  type Progress,
  type ResumeState,
  UploadError,
  type UploadOptions,
  upload,
} from "../src/upload/index.js";
import { skipSleeps } from "./clock.js";
import { bodies, completions, file, interruptedUpload, PARTS, putAll, puts, text } from "./large-file.js";
import { problem, refusal } from "./messages.js";
import { TestServer, until } from "./server.js";
import { sha256 } from "./uploads.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  skipSleeps();
});

afterEach(() => server.stop());

test("uploads a large file in parts, each with its SHA-256, and completes it", async () => {
  const progress: Progress[] = [];
  const { fileGuid } = await upload(server.client, file, { onProgress: (step) => progress.push(step) });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
  expect(bodies(puts(server))).toEqual([...PARTS].sort());
  for (const { body, headers } of puts(server)) expect(headers["x-amz-checksum-sha256"]).toBe(sha256(body));
  expect(completions(server)).toHaveLength(1);
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
  expect(puts(server)).toHaveLength(6);
  expect(new Set(puts(server).map(({ path }) => path)).size).toBe(6);
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
});

test("fails after repeated refusals by S3, and can be resumed", async () => {
  server.script("PUT /s3/*", ...Array(6).fill(refusal(403, "AccessDenied")));
  let state: ResumeState | undefined;
  const options: UploadOptions = { partsAtOnce: 1, onBegun: (begun) => (state = begun) };
  const error = await upload(server.client, file, options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(UploadError);
  expect(error.status).toBe(403);
  expect(completions(server)).toHaveLength(0);
  const { fileGuid } = await upload(server.client, file, { resume: state });
  expect(server.uploads.contentOf(fileGuid)).toBe(text);
});

test("a permanent failure of one part stops the others", async () => {
  // 103 parts.
  server.uploads.partSize = 10;
  server.script("POST /api/uploads/*", "as-usual", problem(409, "upload-abandoned"));
  await expect(upload(server.client, file)).rejects.toMatchObject({ kind: "upload-abandoned" });
  expect(puts(server).length).toBeLessThan(10);
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
    putAll(server, fileGuid);
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
  expect(puts(server).length).toBeLessThanOrEqual(3);
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
  expect(puts(server).length).toBeLessThanOrEqual(3);
});

test("an abandoned upload is not resumed and throws its problem at once", async () => {
  const state = await interruptedUpload(server);
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
