import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, NetworkError, ProblemError } from "../src/index.js";
import { shortenTimeouts, skipSleeps } from "./clock.js";
import { completed, JOB_CALL, JOB_ID, jobAt, problem, type Reply, state } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  // No jitter, so the delays are the shortest.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

const CREATE = "POST /api/jobs";
const CANCEL = `POST /api/jobs/${JOB_ID}/cancel`;
const accepted: Reply = { status: 202, body: jobAt(0) };
const request = { jobType: "import", fileGuid: "f", options: { dataset: "people", key: "email" } };

/** Returns the rejection of a call. */
function refusal(call: Promise<unknown>): Promise<ProblemError> {
  return call.then(
    () => Promise.reject(new Error("It was not refused")),
    (error) => error,
  );
}

test("createJob sends a new idempotency key, or the given one", async () => {
  server.script(CREATE, accepted, accepted, accepted);
  expect(await server.client.createJob(request)).toEqual(jobAt(0));
  await server.client.createJob(request);
  await server.client.createJob(request, { idempotencyKey: "monday-1" });
  const [first, second, third] = server.seen(CREATE);
  expect(JSON.parse(String(first?.body))).toEqual(request);
  expect(first?.headers["content-type"]).toBe("application/json");
  expect(first?.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(second?.headers["idempotency-key"]).not.toBe(first?.headers["idempotency-key"]);
  expect(third?.headers["idempotency-key"]).toBe("monday-1");
});

test("createJob retries a lost reply with the same key", async () => {
  server.script(CREATE, "cut", { status: 503, body: { message: "Service Unavailable" } }, accepted);
  await server.client.createJob(request);
  const keys = server.seen(CREATE).map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});

test("run creates a job over items, waits for its end and reads all pages of results", async () => {
  const results = `GET /api/jobs/${JOB_ID}/results`;
  server.script(CREATE, "cut", accepted);
  server.script(JOB_CALL, state(jobAt(50)), state(completed()));
  server.script(
    results,
    { status: 200, body: { results: [{ number: 1, output: "a" }], complete: false, nextCursor: "c1" } },
    { status: 200, body: { results: [{ number: 2, output: "b" }], complete: true, nextCursor: null } },
  );
  const issues = [{ code: "results_as_csv", message: "made up" }];
  server.script(`GET /api/jobs/${JOB_ID}/output`, { status: 200, body: { files: {}, issues } });
  const items = [{ flight: "LH1" }, { flight: "NZ2" }];
  const finished = await server.client.run("enrich", items, { options: {} });
  expect(finished.job.status).toBe("completed");
  expect(finished.results).toEqual([
    { number: 1, output: "a" },
    { number: 2, output: "b" },
  ]);
  expect(finished.issues).toEqual(issues);
  expect(JSON.parse(String(server.seen(CREATE)[0]?.body))).toEqual({ jobType: "enrich", items, options: {} });
  expect(server.seen(CREATE)).toHaveLength(2);
});

test("export creates a job over a dataset, waits for its end and returns the file", async () => {
  const output = `GET /api/jobs/${JOB_ID}/output`;
  const file = { url: "https://bucket/results.csv", rows: 2 };
  const issues = [{ code: "columns_left_out", message: "made up" }];
  server.script(CREATE, "cut", accepted, accepted);
  server.script(JOB_CALL, state(jobAt(50)), state(completed()), state(completed()));
  server.script(
    output,
    { status: 200, body: { files: { results: file }, issues } },
    { status: 200, body: { files: {}, issues: [] } },
  );
  const results = { format: "csv", columns: [{ name: "id" }] };
  const exported = await server.client.export("people", { results, updatedSince: "2026-11-01T00:00:00Z" });
  expect(exported.job.status).toBe("completed");
  expect(exported.file).toEqual(file);
  expect(exported.issues).toEqual(issues);
  const source = { dataset: "people", updatedSince: "2026-11-01T00:00:00Z" };
  expect(JSON.parse(String(server.seen(CREATE)[0]?.body))).toEqual({ jobType: "export", source, results });
  expect((await server.client.export("people")).file).toBeNull();
  expect(JSON.parse(String(server.seen(CREATE)[2]?.body))).toEqual({
    jobType: "export",
    source: { dataset: "people" },
  });
});

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
  const invalid = await refusal(server.client.createJob(request));
  expect(invalid).toBeInstanceOf(ProblemError);
  expect(invalid).toMatchObject({ kind: "invalid-request", status: 422, title: "invalid-request", errors });
  expect(invalid).toMatchObject({ detail: "It is invalid-request.", requestId: "r-1", retryAfter: null });
  expect(invalid.message).toBe("It is invalid-request.");
  const full = await refusal(server.client.createJob(request));
  expect(full).toMatchObject({ kind: "too-many-jobs", status: 429, retryAfter: 30, errors: [] });
  expect(server.requests).toHaveLength(2);
});

test("responses of the gateway and non-JSON responses have the kind gateway", async () => {
  server.script(CREATE, { status: 401, body: { message: "Unauthorized" } });
  server.script(CREATE, { status: 418, headers: { "content-type": "text/html" }, body: "<p>Tea</p>" });
  const unauthorized = await refusal(server.client.createJob(request));
  expect(unauthorized).toMatchObject({
    kind: "gateway",
    status: 401,
    title: "Unauthorized",
    requestId: null,
  });
  expect(await refusal(server.client.createJob(request))).toMatchObject({
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
    expect(await refusal(server.client.createJob(request))).toMatchObject({
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
  expect(await refusal(server.client.cancel(JOB_ID))).toMatchObject({ kind: "job-ended" });
});

test("changes send If-Match if the caller gives an ETag", async () => {
  server.script(JOB_CALL, state(jobAt(5)));
  server.script(CANCEL, problem(412, "precondition-failed"), accepted);
  const { etag } = await server.client.getJob(JOB_ID);
  expect(await refusal(server.client.cancel(JOB_ID, { ifMatch: etag }))).toMatchObject({
    kind: "precondition-failed",
  });
  await server.client.cancel(JOB_ID);
  expect(server.seen(CANCEL).map(({ headers }) => headers["if-match"])).toEqual([etag, undefined]);
});

test("retry sends a corrected failures file, a code, or no body", async () => {
  const call = `POST /api/jobs/${JOB_ID}/retry`;
  server.script(call, accepted, accepted, accepted);
  await server.client.retry(JOB_ID);
  await server.client.retry(JOB_ID, { fileGuid: "corrected", ifMatch: '"1"' });
  await server.client.retry(JOB_ID, { code: "pattern", field: "email" });
  const [plain, corrected, byCode] = server.seen(call);
  expect(JSON.parse(String(byCode?.body))).toEqual({ code: "pattern", field: "email" });
  expect(String(plain?.body)).toBe("");
  expect(JSON.parse(String(corrected?.body))).toEqual({ fileGuid: "corrected" });
  expect(corrected?.headers["if-match"]).toBe('"1"');
});

test("every other call has its path, query and result", async () => {
  const { client } = server;
  const page = { limit: 5, cursor: "abc" };
  const calls: [string, () => Promise<unknown>, string][] = [
    [
      "GET /api/jobs",
      () => client.listJobs({ status: "failed", jobType: "import", ...page }),
      "?status=failed&jobType=import&limit=5&cursor=abc",
    ],
    ["GET /api/jobs", () => client.listJobs({ cursor: undefined }), ""],
    [
      "GET /api/jobs",
      () => client.listJobs({ metadata: { team: "a&b", run: "7" }, limit: 5 }),
      "?metadata%5Bteam%5D=a%26b&metadata%5Brun%5D=7&limit=5",
    ],
    [`GET /api/jobs/${JOB_ID}/failures`, () => client.failures(JOB_ID, page), "?limit=5&cursor=abc"],
    [`GET /api/jobs/${JOB_ID}/output`, () => client.output(JOB_ID), ""],
    [`GET /api/jobs/${JOB_ID}/audit`, () => client.audit(JOB_ID), ""],
    [`POST /api/jobs/${JOB_ID}/start`, () => client.start(JOB_ID), ""],
    [`POST /api/jobs/${JOB_ID}/undo`, () => client.undo(JOB_ID), ""],
    [`POST /api/jobs/${JOB_ID}/undo`, () => client.undo(JOB_ID, { mode: "validate" }), ""],
    ["GET /api/datasets", () => client.listDatasets(page), "?limit=5&cursor=abc"],
    [
      "GET /api/datasets/my%2Fpeople/records",
      () => client.listRecords("my/people", page),
      "?limit=5&cursor=abc",
    ],
  ];
  for (const [index, [call, send, query]] of calls.entries()) {
    server.script(call, { status: 200, body: { answer: index } });
    expect(await send()).toEqual({ answer: index });
    expect(server.requests.at(-1)?.path).toBe(call.split(" ")[1] + query);
  }
  server.script(`DELETE /api/jobs/${JOB_ID}`, { status: 204 });
  expect(await client.delete(JOB_ID, { ifMatch: "*" })).toBeUndefined();
});

test("deleteRecord sends any key unchanged, and repeats a lost reply", async () => {
  const call = "DELETE /api/datasets/people/records";
  const key = "a/b?c%2F&d+e #\u00fc\u4e16";
  server.script(call, "cut", { status: 204 });
  expect(await server.client.deleteRecord("people", key)).toBeUndefined();
  expect(server.requests).toHaveLength(2);
  const url = new URL(server.requests.at(-1)?.path ?? "", server.url);
  expect([...url.searchParams]).toEqual([["key", key]]);
});

test("deleteDataset creates one job under one key, although a reply is lost", async () => {
  const call = "DELETE /api/datasets/people";
  server.script(call, "cut", { status: 202, body: { jobId: JOB_ID } });
  expect(await server.client.deleteDataset("people")).toEqual({ jobId: JOB_ID });
  const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toHaveLength(2);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(keys[1]).toBe(keys[0]);
});

test("the token is requested for each call, may be asynchronous, and may be missing", async () => {
  const tokens = ["one", Promise.resolve("two"), null];
  const client = createClient({ baseUrl: `${server.url}/`, token: () => tokens.shift() });
  server.script(JOB_CALL, ...Array(3).fill(state(completed())));
  for (let call = 0; call < 3; call++) await client.getJob(JOB_ID);
  const sent = server.seen(JOB_CALL).map(({ headers }) => headers.authorization);
  expect(sent).toEqual(["Bearer one", "Bearer two", undefined]);
});

test("send makes any other call", async () => {
  server.script("GET /api/dead-letters", { status: 200, body: { deadLetters: [] } });
  const answer = await server.client.send({
    method: "GET",
    path: "/api/dead-letters",
    query: { limit: 1 },
    repeatable: true,
  });
  expect(await answer.json()).toEqual({ deadLetters: [] });
});
