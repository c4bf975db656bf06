/** Calls of operators: queries, bodies, and what is repeated after a lost reply. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { rejection } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  // No jitter, so the delays are the shortest.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

const REQUEST = { type: "invite", code: "timeout", jobIds: ["j1"], reason: "It is back." };
const reply = (body: object) => ({ status: 200, body });

test("filters that are not set are not in the query", async () => {
  server.script("GET /api/operations/jobs", reply({ jobs: [], nextCursor: null }));
  const { client } = server;
  const page = await client.listOperatorJobs({ type: "invite", tenant: undefined, order: "oldest" });
  expect(page.jobs).toEqual([]);
  const [request] = server.seen("GET /api/operations/jobs");
  expect(request?.path).toBe("/api/operations/jobs?type=invite&order=oldest");
});

test("a retry of a group is repeated after a lost reply, because it starts nothing twice", async () => {
  const call = "POST /api/operations/retries";
  server.script(call, "cut", reply({ jobs: [] }));
  expect(await server.client.retryFailures(REQUEST)).toEqual({ jobs: [] });
  expect(server.seen(call).map(({ body }) => JSON.parse(String(body)))).toEqual([REQUEST, REQUEST]);
});

test("the reason of a replay or a discard is in the query", async () => {
  const call = "POST /api/dead-letters/a%2F1/replay";
  server.script(call, "cut", reply({ replayed: ["a/1"] }));
  server.script("DELETE /api/dead-letters/a%2F1", "cut", { status: 204, body: undefined });
  const { client } = server;
  expect(await client.replayDeadLetter("a/1", { reason: "fixed it" })).toEqual({ replayed: ["a/1"] });
  expect(server.seen(call)[1]?.path).toBe("/api/dead-letters/a%2F1/replay?reason=fixed+it");
  expect(await client.discardDeadLetter("a/1")).toBeUndefined();
});

test("a replay of all dead letters of a job is sent once", async () => {
  const call = "POST /api/dead-letters/replay";
  server.script(call, "cut", reply({}));
  expect(await rejection(server.client.replayDeadLettersOfJob("j1", { reason: "r" }))).toMatchObject({
    name: "NetworkError",
  });
  expect(server.seen(call).map(({ body }) => JSON.parse(String(body)))).toEqual([
    { jobId: "j1", reason: "r" },
  ]);
});
