/** Errors, retries of calls, time limits and tokens. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, NetworkError, ProblemError } from "../src/index.js";
import { shortenTimeouts, skipSleeps } from "./clock.js";
import {
  accepted,
  CANCEL,
  CREATE,
  completed,
  JOB_CALL,
  JOB_ID,
  problem,
  rejection,
  request,
  state,
} from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  // No jitter, so the delays are the shortest.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

test("a lasting network failure is a NetworkError after four attempts", async () => {
  server.script(CREATE, "cut", "cut", "cut", "cut", accepted);
  await expect(server.client.createJob(request)).rejects.toBeInstanceOf(NetworkError);
  expect(server.seen(CREATE)).toHaveLength(4);
});

test("retry and delete are never repeated, since a second request would be refused", async () => {
  const retry = `POST /api/jobs/${JOB_ID}/retry`;
  server.script(retry, "cut", accepted);
  server.script(`DELETE /api/jobs/${JOB_ID}`, "cut", { status: 204 });
  await expect(server.client.retry(JOB_ID)).rejects.toBeInstanceOf(NetworkError);
  await expect(server.client.delete(JOB_ID)).rejects.toBeInstanceOf(NetworkError);
  expect(server.requests).toHaveLength(2);
});

test("a problem becomes an error with all its fields, and is not retried", async () => {
  const errors = [{ pointer: "/options/dataset", code: "invalid_dataset", detail: "dataset is missing" }];
  server.script(CREATE, problem(422, "invalid-request", { errors }), problem(429, "too-many-jobs", {}, 30));
  const invalid = await rejection(server.client.createJob(request));
  expect(invalid).toBeInstanceOf(ProblemError);
  expect(invalid).toMatchObject({ kind: "invalid-request", status: 422, title: "invalid-request", errors });
  expect(invalid).toMatchObject({ detail: "It is invalid-request.", requestId: "r-1", retryAfter: null });
  expect(invalid.message).toBe("It is invalid-request.");
  const full = await rejection(server.client.createJob(request));
  expect(full).toMatchObject({ kind: "too-many-jobs", status: 429, retryAfter: 30, errors: [] });
  expect(server.requests).toHaveLength(2);
});

test("responses of the gateway and non-JSON responses have the kind gateway", async () => {
  server.script(CREATE, { status: 401, body: { message: "Unauthorized" } });
  server.script(CREATE, { status: 418, headers: { "content-type": "text/html" }, body: "<p>Tea</p>" });
  const unauthorized = await rejection(server.client.createJob(request));
  expect(unauthorized).toMatchObject({
    kind: "gateway",
    status: 401,
    title: "Unauthorized",
    requestId: null,
  });
  expect(await rejection(server.client.createJob(request))).toMatchObject({
    kind: "gateway",
    title: "HTTP 418",
  });
});

test("an abort rejects with the signal's reason and stops all attempts", async () => {
  server.script(CREATE, "silent");
  const during = new AbortController();
  const call = server.client.createJob(request, { signal: during.signal });
  await vi.waitUntil(() => server.requests.length === 1);
  during.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
  const before = AbortSignal.abort(new Error("too late"));
  await expect(server.client.getJob(JOB_ID, { signal: before })).rejects.toThrow("too late");
  expect(server.requests).toHaveLength(1);
});

test("a pending token ends with the time limit or the signal", async () => {
  shortenTimeouts();
  const client = createClient({ baseUrl: server.url, token: () => new Promise(() => undefined) });
  await expect(client.retry(JOB_ID)).rejects.toBeInstanceOf(NetworkError);
  const abort = new AbortController();
  const call = client.retry(JOB_ID, { signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
  expect(server.requests).toHaveLength(0);
});

test("a call without any answer ends within a minute, with all attempts", async () => {
  shortenTimeouts();
  skipSleeps();
  server.script(CREATE, "silent", "silent", "silent", "silent");
  await expect(server.client.createJob(request)).rejects.toThrow("No answer within 60 s");
  expect(server.seen(CREATE)).toHaveLength(2);
});

test("a problem document that is not an object has the kind gateway", async () => {
  for (const body of ["null", '"no"', "7"]) {
    server.script(CREATE, { ...problem(400, "malformed-json"), body });
    expect(await rejection(server.client.createJob(request))).toMatchObject({
      name: "ProblemError",
      kind: "gateway",
      status: 400,
    });
  }
});

test("an invalid base URL throws; an empty one is the page's origin", async () => {
  const client = createClient({ baseUrl: "" });
  await expect(client.getJob(JOB_ID)).rejects.toThrow(TypeError);
  vi.stubGlobal("location", { href: `${server.url}/page/index.html` });
  server.script(JOB_CALL, state(completed()));
  expect((await client.getJob(JOB_ID)).status).toBe("completed");
});

test("cancel returns the canceled job if its first reply was lost", async () => {
  server.script(CANCEL, "cut", problem(409, "job-ended"));
  server.script(JOB_CALL, state(completed({ status: "canceled" })));
  expect(await server.client.cancel(JOB_ID)).toMatchObject({ jobId: JOB_ID, status: "canceled" });
});

test("cancel rejects if the job has ended with another status", async () => {
  server.script(CANCEL, problem(409, "job-ended"));
  server.script(JOB_CALL, state(completed()));
  expect(await rejection(server.client.cancel(JOB_ID))).toMatchObject({ kind: "job-ended" });
});

test("the token is requested for each call, may be asynchronous, and may be missing", async () => {
  const tokens = ["one", Promise.resolve("two"), null];
  const client = createClient({ baseUrl: `${server.url}/`, token: () => tokens.shift() });
  server.script(JOB_CALL, ...Array(3).fill(state(completed())));
  for (let call = 0; call < 3; call++) await client.getJob(JOB_ID);
  const sent = server.seen(JOB_CALL).map(({ headers }) => headers.authorization);
  expect(sent).toEqual(["Bearer one", "Bearer two", undefined]);
});
