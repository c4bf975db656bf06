/** Jobs that are created, and those whose end is awaited. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { accepted, CREATE, completed, JOB_CALL, JOB_ID, jobAt, request, state } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  // No jitter, so the delays are the shortest.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

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
