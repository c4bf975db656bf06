/** The path, the query and the headers of each call. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { accepted, CANCEL, JOB_CALL, JOB_ID, jobAt, problem, rejection, state } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  // No jitter, so the delays are the shortest.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

test("changes send If-Match if the caller gives an ETag", async () => {
  server.script(JOB_CALL, state(jobAt(5)));
  server.script(CANCEL, problem(412, "precondition-failed"), accepted);
  const { etag } = await server.client.getJob(JOB_ID);
  expect(await rejection(server.client.cancel(JOB_ID, { ifMatch: etag }))).toMatchObject({
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
    ["GET /api/events", () => client.listEvents(page), "?limit=5&cursor=abc"],
    ["POST /api/webhooks", () => client.createWebhook({ url: "https://example.com/" }), ""],
    ["GET /api/webhooks", () => client.listWebhooks(), ""],
    ["POST /api/webhooks/w%2F1/secret", () => client.rotateWebhookSecret("w/1"), ""],
    ["GET /api/webhooks/w%2F1/deliveries", () => client.listDeliveries("w/1", page), "?limit=5&cursor=abc"],
    ["POST /api/webhooks/w/deliveries/d%2F1/replay", () => client.replayDelivery("w", "d/1"), ""],
    ["GET /api/datasets", () => client.listDatasets(page), "?limit=5&cursor=abc"],
    ["GET /api/job-types", () => client.listJobTypes(page), "?limit=5&cursor=abc"],
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
