import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, ProblemError, type VersionedJob } from "../src/index.js";
import { Clock } from "./clock.js";
import { completed, etagOf, JOB_CALL, JOB_ID, jobAt, problem, state, unchanged } from "./messages.js";
import { TestServer, until } from "./server.js";

let server: TestServer;
let clock: Clock;

beforeEach(async () => {
  server = await TestServer.start();
  clock = new Clock();
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

/** Watches in the background and records every yielded job. */
function watching(signal?: AbortSignal) {
  const received: VersionedJob[] = [];
  const done = (async () => {
    for await (const job of server.client.watch(JOB_ID, { signal })) received.push(job);
  })();
  done.catch(() => undefined);
  return { received, done };
}

const requestCount = () => server.seen(JOB_CALL).length;

test("yields every change and ends with the final status", async () => {
  const half = jobAt(50);
  server.script(
    JOB_CALL,
    state(jobAt(0)),
    unchanged(jobAt(0)),
    state(half),
    unchanged(half),
    state(completed()),
  );
  const { received, done } = watching();
  for (let pauses = 0; pauses < 4; pauses++) await clock.pass(1_000);
  await done;
  expect(received.map(({ percent }) => percent)).toEqual([0, 50, 100]);
  const tags = server.seen(JOB_CALL).map(({ headers }) => headers["if-none-match"]);
  expect(tags).toEqual([undefined, etagOf(jobAt(0)), etagOf(jobAt(0)), etagOf(half), etagOf(half)]);
  expect(received[2]?.etag).toBe(etagOf(completed()));
  expect(server.requests[0]?.headers.authorization).toBe("Bearer the-token");
});

test("polls no sooner than Retry-After, also after a 304", async () => {
  server.script(JOB_CALL, state(jobAt(1), 7), unchanged(jobAt(1), 3), state(completed()));
  const { done } = watching();
  await clock.pass(6_999);
  expect(requestCount()).toBe(1);
  await clock.pass(1);
  await until(() => requestCount() === 2);
  await clock.pass(2_999);
  expect(requestCount()).toBe(2);
  await clock.pass(1);
  await done;
  expect(requestCount()).toBe(3);
});

test("jitter only extends Retry-After", async () => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  server.script(JOB_CALL, state(jobAt(1), 10), state(completed()));
  const { done } = watching();
  await clock.pass(11_999);
  expect(requestCount()).toBe(1);
  await clock.pass(1);
  await done;
});

test("never yields an older or decreasing state", async () => {
  const stale = [
    jobAt(30),
    jobAt(41, { percent: 39 }),
    jobAt(41, { itemProgress: 39 }),
    jobAt(45, { updatedAt: jobAt(2).updatedAt }),
  ];
  server.script(JOB_CALL, state(jobAt(40)), ...stale.map((job) => state(job)), state(completed()));
  const { received, done } = watching();
  for (let pauses = 0; pauses < 5; pauses++) await clock.pass(1_000);
  await done;
  expect(received.map(({ percent }) => percent)).toEqual([40, 100]);
});

test("yields a final status even if it seems older", async () => {
  const running = jobAt(99);
  const updatedAt = new Date(Date.parse(running.updatedAt) - 9).toISOString();
  server.script(JOB_CALL, state(running), state(completed({ updatedAt, percent: 98, itemProgress: 98 })));
  const { received, done } = watching();
  await clock.pass(1_000);
  await done;
  expect(received.map(({ status }) => status)).toEqual(["running", "completed"]);
});

test("yields the same state with another ETag once", async () => {
  const again = { ...state(jobAt(40)), headers: { etag: '"another"', "retry-after": "1" } };
  server.script(JOB_CALL, state(jobAt(40)), again, state(completed()));
  const { received, done } = watching();
  for (let pauses = 0; pauses < 2; pauses++) await clock.pass(1_000);
  await done;
  expect(received).toHaveLength(2);
});

test("yields lower progress after a retry of the job", async () => {
  server.script(
    JOB_CALL,
    state(jobAt(80)),
    state(jobAt(10, { attempts: 2 })),
    state(completed({ attempts: 2 })),
  );
  const { received, done } = watching();
  for (let pauses = 0; pauses < 2; pauses++) await clock.pass(1_000);
  await done;
  expect(received.map(({ percent }) => percent)).toEqual([80, 10, 100]);
});

test("retries lost connections, server errors and rate limiting, with growing delays", async () => {
  const gateway = { status: 429, body: { message: "Too Many Requests" } };
  const html = { status: 502, headers: { "content-type": "text/html" }, body: "<h1>Bad gateway</h1>" };
  server.script(JOB_CALL, "cut", problem(500, "internal"), gateway, html, state(completed()));
  const { done } = watching();
  // Without jitter: half of 500 ms, doubled each time.
  for (const [failures, ms] of [250, 500, 1_000, 2_000].entries()) {
    await clock.pass(ms - 1);
    expect(requestCount()).toBe(failures + 1);
    await clock.pass(1);
    await until(() => requestCount() === failures + 2);
  }
  await done;
});

test("limits the delay between failures, and never gives up", async () => {
  const failures = 40;
  server.script(JOB_CALL, ...Array(failures).fill(problem(500, "internal")), state(completed()));
  const { received, done } = watching();
  for (let pauses = 0; pauses < failures; pauses++) await clock.pass(15_000);
  await done;
  expect(received).toHaveLength(1);
});

test("resets the delay after an answer", async () => {
  server.script(JOB_CALL, "cut", "cut", state(jobAt(1)), "cut", state(completed()));
  const { done } = watching();
  for (const ms of [250, 500, 1_000, 250]) await clock.pass(ms);
  await done;
});

test("waits for the Retry-After of an error", async () => {
  server.script(JOB_CALL, problem(503, "busy", {}, 20), state(completed()));
  const { done } = watching();
  await clock.pass(19_999);
  expect(requestCount()).toBe(1);
  await clock.pass(1);
  await done;
});

test("limits Retry-After to between a second and five minutes", async () => {
  server.script(JOB_CALL, state(jobAt(1), 0), state(jobAt(2), 9_999_999_999), state(completed()));
  const { done } = watching();
  await clock.pass(999);
  expect(requestCount()).toBe(1);
  await clock.pass(1);
  await until(() => requestCount() === 2);
  await clock.pass(299_999);
  expect(requestCount()).toBe(2);
  await clock.pass(1);
  await done;
});

test("throws an invalid URL instead of retrying it", async () => {
  const watched = createClient({ baseUrl: "not an address" }).watch(JOB_ID);
  await expect(watched.next()).rejects.toThrow("Invalid URL");
});

test.each([
  [401, { status: 401, body: { message: "Unauthorized" } }],
  [403, problem(403, "no-tenant")],
  [404, problem(404, "not-found")],
])("%i is thrown", async (status, reply) => {
  server.script(JOB_CALL, state(jobAt(1)), reply);
  const { received, done } = watching();
  await clock.pass(1_000);
  const error = await done.catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error.status).toBe(status);
  expect(received).toHaveLength(1);
});

test("polls less often in a hidden tab, and at once when the tab becomes visible", async () => {
  const page = Object.assign(new EventTarget(), { hidden: true });
  vi.stubGlobal("document", page);
  server.script(JOB_CALL, state(jobAt(1), 2), state(jobAt(2), 2), state(completed()));
  const { done } = watching();
  await clock.pass(2_000);
  await clock.pass(7_999);
  expect(requestCount()).toBe(1);
  await clock.pass(1);
  await until(() => requestCount() === 2);
  await clock.pass(2_000);
  await until(() => clock.isSleeping);
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  await done;
  expect(requestCount()).toBe(3);
});

test("waits for Retry-After even if the tab becomes visible", async () => {
  const page = Object.assign(new EventTarget(), { hidden: true });
  vi.stubGlobal("document", page);
  server.script(JOB_CALL, state(jobAt(1), 2), state(completed()));
  const { done } = watching();
  await clock.pass(1_000);
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  await clock.pass(999);
  expect(requestCount()).toBe(1);
  await clock.pass(1);
  await done;
});

test("polls at once when the network returns", async () => {
  const tab = new EventTarget();
  vi.stubGlobal("addEventListener", tab.addEventListener.bind(tab));
  server.script(JOB_CALL, "cut", "cut", "cut", "cut", state(completed()));
  const { done } = watching();
  for (let failures = 1; failures <= 4; failures++) {
    await until(() => requestCount() === failures && clock.isSleeping);
    tab.dispatchEvent(new Event("online"));
  }
  await done;
});

test("an abort rejects with the signal's reason: in a sleep, during a call, and before the first", async () => {
  server.script(JOB_CALL, state(jobAt(1)), "silent");
  const inPause = new AbortController();
  const first = watching(inPause.signal);
  await until(() => first.received.length === 1 && clock.isSleeping);
  inPause.abort(new Error("enough"));
  await expect(first.done).rejects.toThrow("enough");
  expect(clock.isSleeping).toBe(false);

  const inCall = new AbortController();
  const second = watching(inCall.signal);
  await until(() => requestCount() === 2);
  inCall.abort(new Error("enough"));
  await expect(second.done).rejects.toThrow("enough");

  await expect(watching(AbortSignal.abort(new Error("enough"))).done).rejects.toThrow("enough");
  expect(requestCount()).toBe(2);
});
